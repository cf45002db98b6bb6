//! Token formats of package registries and artefact stores. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token("npm_token", "npm access tokens", &["npm_{w36}"]),
    token(
        "pypi_token",
        "PyPI upload tokens",
        &["pypi-AgEIcHlwaS5vcmc{s40+}", "pypi-AgENdGVzdC5weXBpLm9yZ{s40+}", "pypi-{s80+}"],
    ),
    token("rubygems_token", "RubyGems keys", &["rubygems_{h48}"]),
    token("crates_token", "Rust registry tokens", &["cio{w32}"]).exact().random(),
    token("nuget_key", "NuGet keys", &["oy2{l43}"]).exact(),
    token("clojars_token", "Clojars deploy tokens", &["CLOJARS_{l60}"]),
    token(
        "artifactory_key",
        "Artifactory keys and reference tokens",
        &["AKC{w60+}", "cmVmdGtu{w48+}", "eyJ2ZXIiOiIyIiwidHlwIjoiSldUIiwiYWxnIjoiUlMyNTYi{p60+}"],
    ),
    token("dockerhub_token", "Docker Hub tokens", &["dckr_pat_{s27}", "dckr_oat_{s32}", "dckr_{z2-5}_{s24+}"]),
    token(
        "cloudsmith_packagist_token",
        "Cloudsmith, Gemfury and Packagecloud tokens",
        &[
            "ckey_{w30+}",
            "fury_{w30+}",
            "csa_{w40}",
            "packagist_ack_{h60+}",
            "packagist_out_{h60+}",
            "packagist_uut_{h60+}",
        ],
    ),
    token("jsr_token", "Hex, JSR and Deno tokens", &["jsrd_{w30+}", "jsrp_{w40+}", "ddp_{w36+}"]),
    token("anaconda_token", "Anaconda and Conda tokens", &["ana-{w30+}", "/t/{z2}-{uuid}/"]),
    token("expo_token", "Expo and EAS tokens", &["exp_{w36+}", "expo_{w36+}"]).random(),
    token("visual_testing_token", "Visual testing project tokens", &["chpt_{l12+}", "chpk_{l12+}", "web_{h64}"])
        .random(),
    token("app_distribution_token", "App distribution and mobile tokens", &["ac_{h40}", "BUGSNAG_{h32}"]).random(),
];
