//! Token formats of shops, content and community services, devices and maps. How to add a row: see `tokens`.
use super::super::Severity::{High, Medium};
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token("woocommerce_key", "WooCommerce consumer keys and secrets", &["ck_{h40}", "cs_{h40}"]).exact(),
    token("klaviyo_key", "Klaviyo private keys", &["pk_{h34}", "pk_{w6}_{h34}"]).random().exact(),
    token("shopify_partner_token", "Shopify partner tokens", &["prtapi_{h32}"]),
    token("wix_token", "Wix account keys", &["IST.eyJ{p60+}"]),
    token("builder_key", "Builder.io private keys", &["bpk-{h32}"]),
    token("imagekit_key", "ImageKit private keys", &["private_{b27}="]).random(),
    token("adafruit_key", "Adafruit IO keys", &["aio_{w28}"]),
    token("ubidots_token", "Ubidots tokens", &["BBFF-{w30}", "BBUS-{w30}", "BBAU-{w30}"]),
    token("locationiq_key", "LocationIQ tokens", &["pk.{h32}", "pk.{w32}"]).random().exact().severity(High),
    token("lob_publishable_key", "Lob publishable keys", &["live_pub_{h31}", "test_pub_{h31}"]).severity(Medium),
    token("pubnub_client_key", "PubNub publish and subscribe keys", &["pub-c-{uuid}", "sub-c-{uuid}"]).severity(Medium),
    token("instagram_threads_token", "Instagram and Threads tokens", &["IGAA{s60+}", "THAA{s60+}"]),
    token("tiktok_token", "TikTok tokens", &["act.{p60+}", "rft.{p60+}"]).random(),
    token("figma_project_token", "Figma project tokens", &["figp_{s36+}"]),
    token("dfuse_key", "dfuse web and server keys", &["web_{h32}", "server_{h32}", "web_{l32}"]).random().exact(),
    token("middesk_key", "Middesk keys", &["mk_live_{w30+}", "mk_test_{w30+}"]),
];
