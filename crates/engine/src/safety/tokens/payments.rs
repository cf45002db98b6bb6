//! Token formats of payment, commerce, tax and wallet services. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token(
        "stripe_key",
        "Stripe secret and restricted keys",
        &[
            "sk_live_{w10+}",
            "rk_live_{w10+}",
            "sk_test_{w10+}",
            "rk_test_{w10+}",
            "sk_prod_{w10+}",
            "sk_test_{uuid}",
            "sk_live_{uuid}",
            "rk_prod_{w10+}",
            "ek_live_{w20+}",
        ],
    ),
    token("stripe_webhook_secret", "Stripe and Svix webhook signing secrets", &["whsec_{b24+}"]),
    token("square_token", "Square tokens", &["EAAA{s22+}", "sq0atp-{s22}", "sq0csp-{s43}", "sq0idp-{s22}"]),
    token(
        "shopify_token",
        "Shopify tokens of every class",
        &[
            "shpat_{x32}",
            "shpca_{x32}",
            "shppa_{x32}",
            "shpss_{x32}",
            "shptka_{x32}",
            "shpua_{x32}",
            "shprt_{x32}",
            "shcrt_{x32}",
        ],
    ),
    token(
        "braintree_token",
        "PayPal and Braintree access tokens",
        &["access_token$production${l16}${h32}", "access_token$sandbox${l16}${h32}", "A21AA{s60+}"],
    ),
    token(
        "flutterwave_razorpay_key",
        "Paystack, Flutterwave, Razorpay and Midtrans keys",
        &[
            "FLWSECK_TEST-{h32}-X",
            "FLWSECK-{h32}-X",
            "FLWSECK_TEST-{h12}",
            "FLWSECK_TEST{w12}",
            "rzp_live_{w14}",
            "rzp_test_{w14}",
            "Mid-server-{s20+}",
            "SB-Mid-server-{s20+}",
            "sk_live_{h40}",
        ],
    ),
    token(
        "adyen_mollie_key",
        "Adyen, Checkout, Mollie and GoCardless keys",
        &[
            "AQE{w2}hm{b60+}",
            "sk_sbox_{l26+}",
            "sk_{uuid}",
            "live_{w30}",
            "test_{w30}",
            "live_{s40}",
            "sandbox_{s40}",
            "access_{w30+}",
        ],
    )
    .random(),
    token("plaid_token", "Plaid access tokens", &["access-(sandbox|development|production)-{uuid}"]),
    token(
        "coinbase_key",
        "Exchange and wallet keys",
        &[
            "xprv{w100+}",
            "zprv{w100+}",
            "yprv{w100+}",
            "tprv{w100+}",
            "edsk{550+}",
            "organizations/{uuid}/apiKeys/{uuid}",
        ],
    ),
    token(
        "lob_shippo_key",
        "Lob, Shippo and EasyShip keys",
        &["live_{h35}", "test_{h35}", "shippo_live_{h40}", "shippo_test_{h40}"],
    )
    .exact(),
    token(
        "paddle_key",
        "Chargebee, Recurly and Paddle keys",
        &["pdl_live_apikey_{l26}_{w22}_{w3}", "pdl_sdbx_apikey_{l26}_{w22}_{w3}", "pdl_ntfset_{l26}_{w30+}"],
    ),
    token(
        "polar_token",
        "Polar and other storefront tokens",
        &["polar_oat_{w20+}", "polar_pat_{w20+}", "polar_whs_{w20+}", "polar_at_{w20+}", "polar_rt_{w20+}"],
    ),
    token("blockchain_service_key", "Blockchain services' keys", &["alcht_{w30}", "infura_{h32}", "MORALIS_{w40+}"])
        .random(),
    token("asaas_key", "Asaas keys", &["$aact_prod_{w30+}", "$aact_hmlg_{w30+}", "$aact_{b60+}"]),
    token("ticket_tailor_key", "Ticket Tailor keys", &["sk_{d4}_{d6}_{h32}"]),
    token(
        "identity_check_key",
        "Onfido and Proof keys",
        &["api_live.{p20+}", "api_live_us.{p20+}", "api_live_ca.{p20+}", "api_sandbox.{p20+}", "prf_{w20+}"],
    )
    .random(),
    token("fleetbase_key", "Fleetbase and BestTime keys", &["flb_live_{w20+}", "flb_test_{w20+}", "pri_{h32}"])
        .random(),
    token("robinhood_key", "Robinhood crypto keys", &["rh-api-{uuid}"]),
    token("ebay_secret", "Marketplaces' secrets", &["PRD-{h8-12}-{h4}-{h4}-{h4}-{h4-12}", "v^1.1#i^1{p1}{w40+}"]),
];
