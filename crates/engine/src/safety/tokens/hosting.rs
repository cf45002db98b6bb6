//! Source hosting, continuous integration and code quality.
use super::{Token, token};

pub(super) const ROWS: &[Token] = &[
    token("github_token", "GitHub tokens of every class", &[
        "ghp_{w30+}", "gho_{w30+}", "ghu_{w30+}", "ghs_{w30+}", "ghr_{w30+}", "ghs_{w10+}_{p40+}", "github_pat_{m60+}",
    ]),
    token("github_app_key", "GitHub Actions and legacy tokens", &["v1.{h40}"]),
    token("gitlab_token", "GitLab tokens of every class", &[
        "glpat-{p20+}", "gldt-{s20+}", "glptt-{h40}", "glrt-{p20+}", "glrtr-{p20+}", "glcbt-{m1+}_{s20+}", "glcbt-{s20+}",
        "GR1348941{s20+}", "glft-{s20+}", "glimt-{s25}", "glagent-{s40+}", "gloas-{h64}", "glsoat-{s20+}", "glffct-{s20+}", "glwt-{s20+}",
    ]),
    token("bitbucket_token", "Bitbucket app passwords and access tokens", &["ATBB{w28+}", "ATCTT3xFfG{s60+}={H8}"]),
    token("atlassian_token", "Atlassian API tokens", &["ATATT3xFfG{s60+}", "ATSTT3xFfG{s60+}", "ATOATT{s40+}"]),
    token("azure_repos_token", "Gitea and Forgejo tokens with their prefix", &["gta_{h40}", "fj_{h40}", "gto_{h40}"]),
    token("sourcegraph_token", "Sourcegraph access tokens", &["sgp_{h40}", "sgp_{h16}_{h40}", "sgp_local_{h40}", "slk_{h64}", "sgd_{h64}", "sgph_{m40+}"]),
    token("circleci_token", "CircleCI tokens", &["CCIPAT_{w20+}_{h40}", "CCIPRJ_{w20+}_{h40}"]),
    token("buildkite_token", "Buildkite tokens", &["bkua_{h40}", "bkat_{w30+}", "bkct_{w30+}", "bkpt_{w30+}", "bkaj_{w30+}", "bkpat_{w30+}"]),
    token("drone_travis_token", "Codefresh and other CI tokens", &["{h24}.{h32}.codefresh", "codecov-{h32}"]),
    token("sonar_token", "SonarQube and SonarCloud tokens", &["squ_{h40}", "sqp_{h40}", "sqa_{h40}", "sqco_{w36+}"]),
    token("snyk_token", "Snyk platform tokens", &["snyk_uat.{h8}.{p40+}", "snyk_sat.{h8}.{p40+}", "snyk_pat.{p40+}"]),
    token("semgrep_token", "Semgrep app tokens", &["sgw_{w40+}"]),
    token("launchdarkly_key", "LaunchDarkly keys", &["sdk-{uuid}", "api-{uuid}", "mob-{uuid}", "rel-{uuid}"]),
    token("unleash_flagsmith", "Flagsmith and Statsig server keys", &["ser.{w20+}", "secret-{w40+}", "console-{w40+}"]).random(),
    token("postman_key", "Postman API keys", &["PMAK-{h24}-{h34}", "PMAT-{w26}"]),
    token("bump_readme_key", "ReadMe, Bump and Stoplight keys", &["rdme_{l70}"]),
    token("linear_key", "Linear API and OAuth keys", &["lin_api_{w40}", "lin_oauth_{w40+}", "lin_wh_{w30+}"]),
    token("asana_token", "Asana personal access tokens", &["1/{d10-20}:{h32}", "2/{d10-20}/{d10-20}:{h32}"]),
    token("clickup_token", "ClickUp personal tokens", &["pk_{d6-10}_{u32}"]),
    token("monday_shortcut", "Shortcut, Height and Plane tokens", &["plane_api_{h32}", "secret_{w43}"]),
    token("notion_token", "Notion integration secrets", &["ntn_{w40+}"]),
    token("airtable_token", "Airtable personal access tokens", &["pat{w14}.{h64}"]),
    token("figma_token", "Figma tokens", &["figd_{s36+}", "figdr_{s36+}", "figo_{s36+}", "figu_{s36+}", "figuh_{s36+}", "figor_{s36+}"]),
    token("miro_canva_token", "Contentful and Storyblok management tokens", &["CFPAT-{s40+}"]),
    token("frameio_token", "Frame.io tokens", &["fio-u-{s60+}"]),
    token("prismic_sanity", "DatoCMS, Dotenv Vault and Hygraph keys", &["dotenv://:key_{h64}@", "vlt_{h64}", "key_{h64}"]).random(),
    token("grafbase_hasura", "Ory, Clerk, WorkOS and Stytch secrets", &[
        "ory_at_{p40+}", "ory_pat_{w32}", "ory_st_{w32}", "ory_rt_{p40+}", "ory_apikey_{w32}", "sk_live_clerk_{w30+}",
        "secret-live-{s36}=", "secret-test-{s36}=", "project-live-{uuid}:",
    ]),
    token("scalr_token", "Scalr and Env0 tokens", &["at-{l15+}.{s40+}"]),
    token("settlemint_token", "SettleMint tokens", &["sm_pat_{w16}", "sm_aat_{w16}", "sm_sat_{w16}"]),
    token("duffel_easypost", "Duffel and EasyPost keys", &["duffel_live_{s43}", "duffel_test_{s43}", "EZAK{w54}", "EZTK{w54}"]),
];
