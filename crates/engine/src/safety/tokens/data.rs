//! Databases, warehouses, streams and search services.
use super::{Token, token};

pub(super) const ROWS: &[Token] = &[
    token("databricks_token", "Databricks tokens", &["dapi{h32}", "dose{h32}", "dkea{h32}", "dsapi{h32}"]),
    token(
        "snowflake_token",
        "Snowflake programmatic and session tokens",
        &["ver:1-hint:{d1+}-{b60+}", "ETMsDgAAA{b60+}"],
    ),
    token("dbt_token", "dbt Cloud tokens", &["dbtc_{s24+}", "dbtu_{s24+}", "dbts_{s24+}"]),
    token("clickhouse_key", "ClickHouse Cloud and Tinybird keys", &["4b1d{w38}", "p.eyJ{p60+}"]).exact(),
    token("mongodb_atlas", "MongoDB Atlas service secrets", &["mdb_sa_sk_{s30+}", "mdb_sa_id_{h24}:{s30+}"]),
    token("fauna_key", "Fauna keys", &["fnA{s37}", "fn{s38}"]).random().exact(),
    token("elastic_key", "Elastic and Meilisearch API keys", &["essu_{b40+}", "VnVhQ2ZHY0JDZGJrU{b20+}"]),
    token("segment_token", "Segment tokens", &["sgp_{w64}"]),
    token("posthog_key", "PostHog personal and project secrets", &["phx_{w40+}", "phs_{w40+}", "phr_{w40+}"]),
    token("hightouch_token", "Airbyte, Census and Hightouch tokens", &["secret-token:{w40+}"]),
    token("mapbox_token", "Mapbox secret tokens", &["sk.eyJ{s30+}.{s20+}", "tk.eyJ{s30+}.{s20+}"]),
    token("arcgis_token", "ArcGIS tokens", &["AAPK{s60+}", "AAPT{s60+}"]),
    token(
        "salesforce_token",
        "Salesforce session ids and keys",
        &["00D{w12-15}!{p60+}", "5Aep861{p60+}", "3MVG9{p60+}"],
    ),
    token("hubspot_token", "HubSpot private app tokens", &["pat-(na1|eu1|na2|ap1)-{uuid}", "CJ{s60+}.{s20+}"]).random(),
    token("pipedrive_token", "Freshworks and Pipedrive tokens", &["pipedrive_{h40}", "frsh_{w30+}"]),
    token("dropbox_token", "Dropbox and Box tokens", &["sl.{s120+}", "sl.u.{s100+}"]),
    token("typeform_token", "Typeform tokens", &["tfp_{p40+}"]),
    token("confluent_key", "Confluent Cloud secrets", &["cflt{b60+}"]),
    token("momento_token", "Momento and Upstash tokens", &["AX{u2}{w2}sg{w40+}", "momento_{w40+}"]).random(),
    token("cloudinary_url", "Cloudinary addresses with secrets", &["cloudinary://{d10-20}:{s20+}@"]),
    token("livekit_key", "LiveKit keys", &["API{w12}:{w40+}"]).random(),
    token("pubnub_key", "PubNub secret keys", &["sec-c-{b40+}", "sec-c-{uuid}"]),
    token("nats_nkey", "NATS seeds", &["SU{256}", "SO{256}", "SA{256}"]).random(),
];
