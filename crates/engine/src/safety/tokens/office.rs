//! Token formats of identity providers, one-time codes, devices and office software. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token(
        "totp_secret",
        "One-time password seeds in otpauth addresses",
        &["otpauth://totp/{p0+}", "otpauth://hotp/{p0+}"],
    ),
    token("okta_token", "Okta API tokens", &["SSWS {s40+}"]),
    token("authentik_token", "Authentik, Keycloak and Zitadel tokens", &["ak_{w60+}", "sat_{w60+}"]).random(),
    token("jumpcloud_key", "JumpCloud keys", &["jca_{w36}"]),
    token(
        "facebook_token",
        "Meta access tokens",
        &["EAAC{w60+}", "EAAB{w60+}", "EAAG{w60+}", "EAAM{w60+}", "EAAD{w60+}", "EAAE{w60+}"],
    ),
    token("linkedin_token", "LinkedIn access tokens", &["AQU{s150+}", "AQV{s150+}", "AQW{s150+}", "AQX{s150+}"]),
    token("twitch_token", "Twitch stream keys", &["live_{d8-10}_{w30}", "oauth:{l30}"]),
    token("home_assistant_token", "Home Assistant and Plex long-lived tokens", &["abcdlllt_{w60+}"]),
    token("adobe_secret", "Adobe client secrets", &["p8e-{h32}", "p8e-{s32}"]),
    token("bannerbear_key", "Bannerbear keys", &["bb_ma_{h30}", "bb_pr_{h30}"]),
    token("scrapfly_key", "Scrapfly keys", &["scp-live-{l32}", "scp-test-{l32}"]).random(),
    token("cal_key", "Calendly and Cal.com keys", &["cal_live_{h32}", "cal_{h32}"]),
    token(
        "wakatime_rapidapi_key",
        "WakaTime, RapidAPI and Todoist keys",
        &["waka_{uuid}", "waka_sec_{w60+}", "{h10}msh{h15}p1{h6}jsn{h12}"],
    ),
    token("pexels_key", "Unsplash, Pexels and other content keys", &["pexels_{w50+}"]),
    token("intra42_token", "42 intra credentials", &["s-s4t2ud-{h64}", "s-s4t2af-{h64}"]),
    token("kagi_token", "Obsidian, Readwise and Kagi tokens", &["kagi_{w40+}"]),
    token("nordvpn_token", "PuTTY and VPN one-line secrets", &["nordvpn_{h64}"]),
    token(
        "defined_networking_key",
        "Defined Networking and Cloudflare Tunnel keys",
        &["dnkey-{w26}-{w52}", "dnkey-{s60+}", "eyJhIjoi{b80+}"],
    ),
    token("maxmind_licence_key", "MaxMind and other licence keys", &["{w6}_{w29}_mmk"]),
    token("lichess_token", "Lichess tokens", &["lip_{w20}", "lio_{w40+}"]).random(),
    token("password_manager_token", "Artefacts of password managers", &["bw_session_{b60+}", "KPXC_{w40+}"]),
    token("sumup_key", "Freemius, SumUp and Sidekiq credentials", &["sup_sk_{w30+}", "sup_pk_{w30+}"]),
];
