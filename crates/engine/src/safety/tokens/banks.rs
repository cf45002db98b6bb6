//! Token formats of banks, payout services and blockchains. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token("mercury_token", "Mercury tokens", &["secret-token:mercury_{s30+}", "mercury_production_{s30+}"]),
    token("brex_token", "Brex tokens", &["bxt_{w36+}"]),
    token(
        "stripe_organization_key",
        "Stripe organisation and ephemeral keys",
        &["sk_org_live_{w20+}", "sk_org_test_{w20+}", "ek_test_{w20+}"],
    ),
    token("crossmint_key", "Crossmint server keys", &["sk_production_{w30+}", "sk_staging_{w30+}"]),
    token("bitgo_token", "BitGo tokens", &["v2x{h64}"]).exact(),
    token(
        "circle_key",
        "Circle keys",
        &["LIVE_API_KEY:{h32}:{h32}", "TEST_API_KEY:{h32}:{h32}", "SAND_API_KEY:{h32}:{h32}"],
    ),
    token("quicknode_key", "QuickNode keys", &["QN_{h32}"]),
    token("dynamic_key", "Dynamic environment tokens", &["dyn_{w40+}"]),
    token("alpaca_key", "Alpaca trading keys", &["PK{u18}", "CK{u18}"]).random().exact(),
    token("tremendous_key", "Tremendous keys", &["PROD_{s43}", "TEST_{s43}"]).random().exact(),
    token("teller_token", "Teller tokens", &["test_tkn_{w20+}", "test_token_{w20+}", "live_tkn_{w20+}"]),
    token("wif_key", "Bitcoin keys in import format", &["5H{549}", "5J{549}", "5K{549}"]).random().exact(),
    token("stellar_seed", "Stellar seeds", &["SA{254}", "SB{254}", "SC{254}", "SD{254}"]).random().exact(),
    token(
        "xendit_key",
        "Xendit keys",
        &["xnd_production_{w40+}", "xnd_development_{w40+}", "xnd_public_production_{w40+}"],
    ),
    token(
        "mercadopago_token",
        "Mercado Pago tokens",
        &["APP_USR-{d12-20}-{d6}-{h32}-{d6-12}", "TEST-{d12-20}-{d6}-{h32}-{d6-12}"],
    ),
    token("pagarme_key", "Pagar.me keys", &["ak_live_{w30}", "ak_test_{w30}"]),
    token("iyzico_key", "iyzico keys", &["sandbox-{w32}"]).random().exact(),
    token("cashfree_key", "Cashfree secrets", &["cfsk_ma_prod_{h32}_{h8}", "cfsk_ma_test_{h32}_{h8}"]),
    token("monnify_key", "Monnify keys", &["MK_PROD_{u10}", "MK_TEST_{u10}"]).random(),
];
