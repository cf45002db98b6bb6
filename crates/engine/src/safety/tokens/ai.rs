//! Token formats of model providers and the services around them. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token(
        "anthropic_key",
        "Anthropic API and OAuth keys",
        &["sk-ant-{s60+}", "sk-ant-admin01-{s60+}", "sk-ant-oat01-{s60+}", "sk-ant-sid01-{s60+}"],
    ),
    token(
        "openai_key",
        "OpenAI keys",
        &[
            "sk-proj-{s40+}",
            "sk-svcacct-{s40+}",
            "sk-admin-{s40+}",
            "sk-None-{s40+}",
            "sk-{s20-90}T3BlbkFJ{s20-90}",
            "sess-{w40}",
        ],
    ),
    token("openrouter_key", "OpenRouter keys", &["sk-or-v1-{h64}", "sk-or-{s32+}"]),
    token(
        "generic_sk_key",
        "Keys with the common `sk-` prefix (OpenAI-style services)",
        &["sk-{w32+}", "sk_{w32+}", "sk-{z2-12}-{s32+}", "sk-{z2-8}_{s32+}"],
    )
    .random(),
    token(
        "langsmith_key",
        "LangSmith and LangFuse keys",
        &["lsv2_pt_{h32}_{h10}", "lsv2_sk_{h32}_{h10}", "ls__{h32}", "sk-lf-{uuid}"],
    ),
    token("huggingface_token", "Hugging Face tokens", &["hf_{w30+}", "api_org_{a34}"]),
    token("replicate_token", "Replicate tokens", &["r8_{w37}", "r8_{w36-40}"]),
    token("groq_key", "Groq keys", &["gsk_{w48+}"]),
    token("perplexity_key", "Perplexity keys", &["pplx-{w40+}"]),
    token("xai_key", "xAI keys", &["xai-{w70+}"]),
    token(
        "fireworks_key",
        "Fireworks, Together and Cerebras keys",
        &["fw_{w22+}", "tgp_v1_{s40+}", "csk-{l40+}", "fpk_{w30+}"],
    )
    .random(),
    token("nvidia_key", "NVIDIA API keys", &["nvapi-{s60+}"]),
    token(
        "cohere_pinecone_key",
        "Cohere, Voyage, Jina and Pinecone keys",
        &["co_{w40}", "pa-{s40+}", "jina_{m50+}", "pcsk_{m50+}", "vs-{w40+}"],
    )
    .random(),
    token("voiceflow_key", "Voiceflow keys", &["VF.DM.{x24}.{w16}", "VF.WS.{x24}.{w16}", "VF.{w24+}.{w16}"]),
    token("elevenlabs_key", "ElevenLabs keys", &["sk_{h48}"]),
    token(
        "agent_search_key",
        "Search and scraping keys for agents",
        &[
            "tvly-{s28+}",
            "fc-{h32}",
            "exa_{w30+}",
            "apify_api_{w36}",
            "jina_{h32}{s20+}",
            "brv_{w30+}",
            "BSA{s28}",
            "BSA{w23-32}",
        ],
    )
    .random(),
    token(
        "wandb_roboflow_key",
        "Weights & Biases, Roboflow and other experiment keys",
        &["wandb_v1_{s40+}", "rf_{w20+}", "dckr_wb_{w30+}"],
    )
    .random(),
    token(
        "stability_fal_key",
        "Stability, fal and other media-model keys",
        &["sk-stab-{w40+}", "fal_{uuid}:{h32}", "luma-{uuid}-{uuid}", "r8b_{w37}"],
    ),
    token("vector_service_key", "Vector services' keys", &["zut_{s40+}", "zqt_{s40+}", "zwt_{s40+}", "aa-{w48}"])
        .random(),
    token(
        "dify_coze_key",
        "Dify, Coze and Langflow keys",
        &["app-{w24}", "dataset-{w24}", "pat_{w60+}", "bce-v3/ALTAK-{w20+}/{h40}"],
    )
    .random(),
    token(
        "coding_agent_key",
        "Editors' and agents' keys",
        &["crsr_{h64}", "key_{h64}", "amp_{s40+}", "sgamp_user_{m40+}", "ctx7sk-{uuid}", "devin_{w30+}"],
    ),
];
