//! Token formats of platforms that run, trace or evaluate models or give them tools. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token("llamacloud_key", "LlamaCloud keys", &["llx-{w40+}"]),
    token("sandbox_key", "E2B and Daytona keys", &["e2b_{h40}", "dtn_{h64}"]),
    token("browserbase_key", "Browserbase keys", &["bb_live_{s20+}", "bb_test_{s20+}"]),
    token("mem0_key", "Mem0 keys", &["m0-{w40}"]).random().exact(),
    token("anyscale_key", "Anyscale keys", &["esecret_{w20+}", "aph0_{s40+}"]),
    token("cartesia_key", "Cartesia keys", &["sk_car_{s20+}"]),
    token("you_search_key", "You.com search keys", &["ydc-sk-{s30+}"]),
    token("chroma_key", "Chroma Cloud keys", &["ck-{w44}"]).random().exact(),
    token(
        "prompt_platform_key",
        "Humanloop, PromptLayer, OpenPipe and Literal keys",
        &["hl_sk_{h40+}", "pl_{h32}", "opk_{h40+}", "lsk_{w30+}"],
    )
    .random(),
    token("helicone_key", "Helicone keys", &["sk-helicone-{s20+}", "sk-helicone-eu-{s20+}"]),
    token("letta_windsurf_key", "Letta and Windsurf keys", &["sk-let-{b40+}", "sk-ws-01-{s60+}"]),
    token("arize_key", "Arize keys", &["ak-{uuid}-{s20+}"]),
    token("friendli_key", "FriendliAI tokens", &["flp_{w40+}"]),
    token("featherless_key", "Featherless keys", &["rc_{h64}"]),
];
