//! Token formats of workflow engines, development environments, build farms and translation services. How to add a row:
//! see `tokens`.
use super::super::Severity::High;
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token(
        "inngest_key",
        "Inngest signing keys",
        &["signkey-prod-{h32+}", "signkey-test-{h32+}", "signkey-branch-{h32+}", "signkey-staging-{h32+}"],
    ),
    token(
        "trigger_key",
        "Trigger.dev keys",
        &["tr_dev_{w20+}", "tr_prod_{w20+}", "tr_stg_{w20+}", "tr_pat_{w30+}", "tr_preview_{w20+}"],
    ),
    token("n8n_key", "n8n keys", &["n8n_api_{w40+}"]),
    token("qstash_signing_key", "Upstash QStash signing keys", &["sig_{w28+}"]).random(),
    token("gitpod_token", "Gitpod tokens", &["gitpod_pat_{s30+}"]),
    token("codesandbox_token", "CodeSandbox tokens", &["csb_v1_{s30+}"]),
    token("jetbrains_token", "JetBrains Hub, YouTrack and Space tokens", &["perm:{q40+}", "perm-{q40+}"]).random(),
    token("teamcity_token", "TeamCity tokens", &["eyJ0eXAiOiAiVENWMiJ9.{s20+}.{s30+}"]),
    token("jenkins_token", "Jenkins user tokens", &["11{h32}"]).random().exact(),
    token("appveyor_token", "AppVeyor tokens", &["v2.{l20}"]).random().exact(),
    token("phabricator_token", "Phabricator tokens", &["api-{l28}", "cli-{l28}"]).random().exact(),
    token("transifex_token", "Transifex tokens", &["1/{h40}"]).random().exact(),
    token("weblate_token", "Weblate tokens", &["wlu_{w36}", "wlp_{w36}"]),
    token("openvsx_token", "Open VSX tokens", &["ovsxp_{uuid}", "ovsxat_{uuid}"]),
    token("spectral_token", "Spectral tokens", &["spu-{l32}"]).random(),
    token("cosmo_key", "WunderGraph Cosmo keys", &["cosmo_{h32}"]),
    token("metabase_key", "Metabase keys", &["mb_{b40+}="]),
    token("retool_key", "Retool tokens", &["retool_{w26+}", "retool_01{w24+}"]),
    token("hex_key", "Hex workspace tokens", &["hxtp_{w40+}", "hxtw_{w40+}"]),
    token("crunchy_bridge_key", "Crunchy Bridge keys", &["cbkey_{w30+}"]),
    token("configcat_key", "ConfigCat SDK keys", &["configcat-sdk-1/{s22}/{s22}", "configcat-proxy/{s20+}"])
        .severity(High),
    token("africastalking_key", "Africa's Talking keys", &["atsk_{h64}"]),
    token("onesignal_key", "OneSignal keys", &["os_v2_app_{l60+}", "os_v2_org_{l60+}"]),
    token("firebase_server_key", "Firebase messaging server keys", &["AAAA{s7}:APA91b{s100+}", "AAAA{s7}:{s140}"]),
    token("gcp_hmac_key", "Google Cloud Storage HMAC ids", &["GOOG1E{u57}", "GOOG{u20}"]).random().exact(),
    token("trello_token", "Trello tokens", &["ATTA{h64}{H8}", "ATTA{h64}"]),
    token(
        "paseto_token",
        "PASETO tokens",
        &["v2.local.{s60+}", "v4.local.{s60+}", "v3.local.{s60+}", "v2.public.eyJ{s60+}", "v4.public.eyJ{s60+}"],
    )
    .severity(High),
    token("webex_token", "Webex tokens", &["{s64}_PF84_{uuid}", "{s64}_PE93_{uuid}", "{s64}_P0A1_{uuid}"]),
    token("zoho_token", "Zoho tokens", &["1000.{h32}.{h32}"]),
    token("canva_token", "Canva app secrets", &["cnvca{s40+}"]).random(),
    token("miro_token", "Miro tokens", &["eyJtaXJvLm9yaWdpbiI6{b10+}_{s20+}"]),
    token(
        "airtable_oauth_token",
        "Airtable OAuth tokens",
        &["oaa{w14}.v1.{w10-24}.{h40+}", "{w8-20}.v1.{s10-64}.{h40-64}"],
    ),
    token(
        "newrelic_licence_key",
        "New Relic licence and mobile keys",
        &["eu01xx{h26}FFFFNRAL", "{h32}FFFFNRAL", "AA{h40}-NRMA", "eu01xx{h36}-NRMA"],
    ),
    token("uptimerobot_key", "UptimeRobot keys", &["ur{d5-8}-{h24}"]).random().exact(),
    token("radar_key", "Radar secret keys", &["prj_live_sk_{h40}", "prj_test_sk_{h40}"]),
    token("keeper_token", "Keeper one-time tokens", &["US:{s43}", "EU:{s43}", "AU:{s43}"]).random().exact(),
];
