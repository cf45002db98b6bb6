//! Token formats of observability, incident response and error tracking. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token(
        "grafana_token",
        "Grafana service account, cloud and legacy keys",
        &["glsa_{w32}_{x8}", "glc_eyJ{b24+}", "glc_{b32+}", "eyJrIjoi{b60+}"],
    ),
    token(
        "newrelic_key",
        "New Relic keys",
        &[
            "NRAK-{u27}",
            "NRAA-{h27}",
            "NRII-{s25+}",
            "NRJS-{h19}",
            "NRRA-{h42}",
            "NRIQ-{s25+}",
            "NRBR-{h19}",
            "NRSP-{w2}{d2}{h31}",
            "eu01xx{h28}NRAL",
            "{h36}NRAL",
        ],
    ),
    token(
        "sentry_token",
        "Sentry tokens",
        &["sntrys_{b60+}", "sntrys_eyJ{b40+}", "sntryu_{h64}", "sntrya_{h64}", "sntryr_{h64}", "sntryi_{h64}"],
    ),
    token("sentry_dsn_secret", "Sentry addresses with a secret part", &["https://{h32}:{h32}@"]),
    token(
        "honeycomb_key",
        "Honeycomb keys",
        &[
            "hcaik_{l58+}",
            "hcbik_{l58+}",
            "hcxik_{l58+}",
            "hcamk_{l58+}",
            "hcxmk_{l58+}",
            "hcalk_{l20+}",
            "hcxlk_{l20+}",
        ],
    ),
    token(
        "datadog_token",
        "Datadog keys with their prefix",
        &["ddapi_{w32+}", "ddp_{h32}", "pub{h32}ddapp", "ddpat_{w22}_{s30+}", "ddapp_{w34}", "ddsat_{w30+}"],
    ),
    token("dynatrace_token", "Dynatrace tokens", &["dt0{a1}01.{u24}.{u64}", "dt0c01.{u24}.{u64}", "dt0s16.{u8}.{u64}"]),
    token(
        "axiom_logtail_key",
        "Axiom, Logtail and Sumo keys",
        &["xaat-{uuid}", "xapt-{uuid}", "xait-{uuid}", "logtail_{w20+}", "sumo_{w50+}"],
    ),
    token("pagerduty_key", "PagerDuty keys with their mark", &["u+{s18}", "pdus+{s18}_{h8}-{uuid}", "pdt-{w30+}"])
        .exact(),
    token("incident_response_token", "Incident response tokens", &["rootly_{h64}", "inc_{w40+}", "fh_{w40+}"]),
    token("checkly_key", "Uptime and synthetic monitoring keys", &["cu_{h32}", "hc{u1}_{w30+}", "chk_{w40+}"])
        .random()
        .exact(),
    token(
        "logfire_token",
        "Highlight, Baselime and Logfire tokens",
        &["pylf_v{d1}_{z2}_{w40+}", "pylf_v1_{w40+}", "bsl_{w30+}", "hl_{w32+}"],
    ),
    token("pixie_key", "Pixie API and deploy keys", &["px-api-{uuid}", "px-dep-{uuid}"]),
    token("coralogix_key", "Coralogix and Cribl keys", &["cxtp_{w30}", "cxup_{w30}", "crbl_{w30+}"]),
    token("apm_ingest_key", "Elastic APM and other ingest secrets", &["apm_{w40+}", "ltk_{w30+}"]).random(),
    token("depot_token", "Depot tokens", &["depot_user_{h64}", "depot_project_{h64}", "depot_org_{h64}"]),
    token(
        "unleash_token",
        "Unleash client and admin tokens",
        &[
            "*:production.{h56}",
            "*:development.{h56}",
            "*:*.{h56}",
            "default:production.{h56}",
            "default:development.{h56}",
        ],
    ),
    token("bright_token", "Bright tokens", &["{w7}.nexp.{w32}"]),
    token("bitly_key", "Bitly keys of the first kind", &["R_{h32}"]).random().exact(),
    token("firehydrant_token", "FireHydrant bot tokens", &["fhb-{h32}"]).exact(),
    token("akamai_token", "Akamai EdgeGrid client and access tokens", &["akab-{l16}-{l16}"]),
    token("porkbun_key", "Porkbun keys", &["sk1_{h64}", "pk1_{h64}"]),
    token("courier_key", "Courier keys", &["pk_prod_{u28}", "pk_test_{u28}"]).exact(),
];
