//! Token formats of clouds, hosting platforms, secret managers and infrastructure tools. How to add a row: see
//! `tokens`.
use super::{Severity, TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token(
        "aws_access_key",
        "AWS access key ids (long-lived, temporary and service keys)",
        &["AKIA{u16}", "ASIA{u16}", "ABIA{u16}", "ACCA{u16}", "A3T{u1}{u16}"],
    )
    .exact(),
    token(
        "aws_session_token",
        "AWS session tokens",
        &["IQoJb3JpZ2lu{b60+}", "FwoGZXIvYXdz{b60+}", "FQoGZXIvYXdz{b60+}"],
    ),
    token("aws_bedrock_key", "Amazon Bedrock API keys", &["ABSK{b100+}", "bedrock-api-key-{b60+}"]),
    token("aws_mws_token", "Amazon MWS auth tokens", &["amzn.mws.{uuid}"]),
    token(
        "amazon_oauth_secret",
        "Login with Amazon client secrets",
        &["amzn1.oa2-cs.v1.{h32+}", "Atzr|{s40+}", "Atza|{s40+}"],
    ),
    token("gcp_api_key", "Google API keys", &["AIza{s35}"]),
    token("gcp_oauth_secret", "Google OAuth client secrets", &["GOCSPX-{s24+}"]),
    token("gcp_access_token", "Google OAuth access and refresh tokens", &["ya29.{s20+}", "1//0{s38+}", "1//{s60+}"]),
    token(
        "azure_client_secret",
        "Microsoft Entra client secrets",
        &[
            "{p3}8Q~{p31-34}",
            "{p3}7Q~{p31-34}",
            "{p3}9Q~{p31-34}",
            "{p3}0Q~{p31-34}",
            "{p3}1Q~{p31-34}",
            "{p3}2Q~{p31-34}",
            "{p3}3Q~{p31-34}",
            "{p3}4Q~{p31-34}",
            "{p3}5Q~{p31-34}",
            "{p3}6Q~{p31-34}",
        ],
    )
    .random(),
    token("azure_devops_pat", "Azure DevOps personal access tokens", &["{l52-80}AZDO{w4}", "{w52-80}AZDO{w4}"]),
    token(
        "azure_storage_key",
        "Azure keys that carry their service's mark",
        &[
            "AccountKey={b86}==",
            "{w33}AIoT{b6}=",
            "{b76}+ASt{b6}==",
            "{b32-38}ACDb{b5-8}=",
            "{w40-52}AzSe{w6}",
            "{w40-52}AzCa{w6}",
            "{b30-40}+AEh{b5-8}=",
            "{b70-80}ACR{b5-8}=",
            "{w40-48}APIM{b5-8}=",
            "{w44}AzFu{b5}==",
            "{w70-80}AAAA{w3}ACOG{w4}",
            "SharedAccessKey={b43}=",
        ],
    ),
    token("alibaba_access_key", "Alibaba Cloud access key ids", &["LTAI{w12-24}", "STS.{w24+}", "CAIS{b100+}"])
        .random(),
    token("tencent_secret_id", "Tencent Cloud secret ids", &["AKID{w28-36}"]).random(),
    token("volcengine_key", "Volcengine access keys", &["AKLT{w30+}"]),
    token("digitalocean_token", "DigitalOcean tokens", &["dop_v1_{h64}", "doo_v1_{h64}", "dor_v1_{h64}"]),
    token("digitalocean_spaces", "DigitalOcean Spaces keys", &["DO00{u16}", "DO801{u15}"]).random().exact(),
    token("heroku_key", "Heroku API keys of the second format", &["HRKU-AA{s50+}", "HRKU-{uuid}"]),
    token(
        "flyio_token",
        "Fly.io access tokens",
        &["fo1_{s40+}", "FlyV1 fm{d1}{m1}_{b60+}", "fm1r_{b60+}", "fm2_{b60+}", "fm1a_{b60+}"],
    ),
    token(
        "vercel_token",
        "Vercel tokens",
        &["vcp_{w24+}", "vck_{w24+}", "vca_{w24+}", "vcr_{w24+}", "vci_{w24+}", "vercel_blob_rw_{m30+}"],
    )
    .random(),
    token("netlify_token", "Netlify tokens", &["nfp_{w36+}", "nfc_{w36+}", "nfo_{w36+}", "nfu_{w36+}"]),
    token(
        "cloudflare_token",
        "Cloudflare tokens and origin CA keys",
        &["v1.0-{h24}-{h146}", "cfut_{m36+}", "cfat_{m36+}", "cfk_{m36+}"],
    ),
    token(
        "supabase_token",
        "Supabase access and secret keys",
        &["sbp_{h40}", "sb_secret_{s20+}", "sbp_oauth_{h40}", "sbp_v0_{h40}"],
    ),
    token("render_key", "Render API keys", &["rnd_{w28+}"]),
    token("railway_token", "Railway tokens", &["rwtk_{w24+}"]),
    token("scaleway_key", "Scaleway access keys", &["SCW{u17}"]).random().exact(),
    token(
        "yandex_key",
        "Yandex Cloud keys and tokens",
        &["AQVN{s35-38}", "YCAJE{s20}", "YCM{s36}", "YCO{s36}", "y0_{s50+}", "y1_{s50+}", "t1.9eu{s60+}"],
    )
    .random(),
    token("ibm_cloud_key", "IBM Cloud IAM API keys", &["ApiKey-{uuid}"]),
    token(
        "small_cloud_token",
        "Civo, Hetzner and other small-cloud tokens that carry a prefix",
        &["hcloud_{w60+}", "civo_{w40+}"],
    ),
    token("exoscale_key", "OVHcloud and Exoscale keys", &["EXO{h24}", "EXO{w24+}", "ovh_{w32+}"]).random(),
    token("upcloud_token", "UpCloud and Vultr tokens", &["ucat_{w26}", "vultr_{w30+}"]).random(),
    token("vault_token", "HashiCorp Vault tokens", &["hvs.{s24+}", "hvb.{s24+}", "hvr.{s24+}", "s.{w24}"]).random(),
    token("terraform_token", "Terraform Cloud tokens", &["{w14}.atlasv1.{q60-70}"]),
    token("pulumi_token", "Pulumi access tokens", &["pul-{h40}"]),
    token(
        "doppler_token",
        "Doppler tokens",
        &[
            "dp.pt.{w40+}",
            "dp.st.{p40+}",
            "dp.ct.{w40+}",
            "dp.sa.{w40+}",
            "dp.scim.{w40+}",
            "dp.audit.{w40+}",
            "dp.said.{w40+}",
        ],
    ),
    token("infisical_token", "Infisical service tokens", &["st.{h24}.{h32}.{h32}"]),
    token("onepassword_token", "1Password service account tokens", &["ops_eyJ{b200+}"]),
    token(
        "onepassword_secret_key",
        "1Password secret keys",
        &["A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}", "A3-{u6}-{u11}-{u5}-{u5}-{u5}"],
    ),
    token("bitwarden_token", "Bitwarden machine-account tokens", &["0.{uuid}.{w30}:{b22}=="]),
    token("age_secret_key", "age identities", &["AGE-SECRET-KEY-1{u58}", "AGE-PLUGIN-YUBIKEY-1{u30+}"]),
    token("openshift_token", "OpenShift user tokens", &["sha256~{s43}"]),
    token("kubernetes_bootstrap", "kubeadm bootstrap tokens", &["--token {l6}.{l16}"]),
    token("rancher_token", "Rancher API tokens", &["token-{l5}:{l54}", "kubeconfig-u-{l5+}:{l54}"]),
    token(
        "tailscale_key",
        "Tailscale keys",
        &[
            "tskey-auth-{w8+}-{w20+}",
            "tskey-api-{w8+}-{w20+}",
            "tskey-client-{w8+}-{w20+}",
            "tskey-scim-{w8+}-{w20+}",
            "tskey-webhook-{w8+}-{w20+}",
            "tskey-{w12+}-{w20+}",
        ],
    ),
    token("netbird_token", "NetBird setup and access tokens", &["nbp_{w36}"]),
    token("ngrok_token", "Ngrok and Teleport credentials", &["ngrok_{w30+}", "{w20-30}_{w20-25}ngrok"])
        .severity(Severity::High),
    token(
        "planetscale_credential",
        "PlanetScale passwords and tokens",
        &["pscale_tkn_{q32+}", "pscale_pw_{q32+}", "pscale_oauth_{q32+}", "pscale_otk_{q32+}"],
    ),
    token("neon_key", "Neon API keys", &["napi_{l60+}", "npg_{w12+}"]),
    token(
        "cockroach_xata_key",
        "Cockroach Cloud, Xata and Convex keys",
        &["CCDB1_{w22}_{w40}", "xau_{w20+}", "prod:{l3+}|{w40+}"],
    )
    .severity(Severity::High),
    token("deno_deploy_token", "Deno Deploy tokens", &["ddp_{w36}", "ddo_{w36}", "ddw_{w36}"]),
    token(
        "modal_runpod_key",
        "Modal, RunPod and Lambda Labs tokens",
        &["ak-{w22}", "as-{w22}", "rpa_{u32}{w6-14}", "secret_{z5+}_{h32}.{w32}", "wk-{w22}", "ws-{w22}"],
    )
    .random(),
    token("boundary_token", "Boundary and Consul tokens", &["at_{w10}_{w40+}"]),
    token("harness_token", "Harness tokens", &["pat.{s22}.{w24}.{w20}", "sat.{s22}.{w24}.{w20}"]),
    token("prefect_token", "Prefect keys", &["pnu_{w36}", "pnb_{w36}"]),
    token("aws_appsync_key", "AWS AppSync API keys", &["da2-{l26}"]).random().exact(),
    token("astra_token", "DataStax Astra application tokens", &["AstraCS:{w20+}:{h60+}", "AstraCS:{s20+}"]),
    token("infracost_key", "Infracost API keys", &["ico-{w32}"]).random().exact(),
    token("scalingo_token", "Scalingo tokens", &["tk-us-{s48}", "tk-{z2}-{s48}"]).random(),
    token("endor_labs_key", "Endor Labs keys", &["endr+{w16+}"]).random(),
    token("portainer_key", "Portainer access tokens", &["ptr_{b24+}", "ptr_{w20+}"]).random(),
    token(
        "devcycle_key",
        "DevCycle and other flag services' server keys",
        &["dvc_server_{m16+}", "dvc_client_{m16+}", "dvc_mobile_{m16+}"],
    ),
    token("salad_cloud_key", "Salad Cloud keys", &["salad_cloud_{s10+}"]).random(),
    token(
        "koyeb_zeabur_key",
        "Small platforms' keys that carry a prefix",
        &["unkey_{w20+}", "vtwn_{w20+}", "cog_{l40+}"],
    )
    .random(),
    token("octopus_key", "Octopus Deploy API keys", &["API-{u25-36}"]).random().exact(),
];
