//! Example keys that vendors print in their documentation. They pass as exact literals only.

/// One row per key. Each is split into parts, so that secret scanners do not report this repository. To add a key,
/// split it where no part looks like a key.
const DOCUMENTED: &[&[&str]] = &[
    &["AKIAIOSFODNN7", "EXAMPLE"],
    &["AKIAI44QH8DHB", "EXAMPLE"],
    &["ASIAIOSFODNN7", "EXAMPLE"],
    &["wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY"],
    &["je7MtGbClwBF/2Zp9Utk/", "h3yCo8nvbEXAMPLEKEY"],
    &["wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYzEXAMPLEKEY"],
    &[
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
        "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.",
        "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    ],
    &[
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
        "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0.",
        "KMUFsIDTnFmyG3nMiGM6H9FNFUROf3wh7SmqJp-QV30",
    ],
    &["sk_test_", "4eC39HqLyjWDarjtT1zdp7dc"],
    &["sk_test_", "BQokikJOvBiI2HlWgH4olfQ2"],
    &["Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq", "/K1SZFPTOtr/KBHBeksoGMGw=="],
    &["C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw", "/Jw=="],
];

/// Whether the value is exactly one of the keys.
pub(super) fn is_documented(value: &[u8]) -> bool {
    DOCUMENTED.iter().any(|parts| {
        let mut rest = value;
        parts.iter().all(|part| match rest.strip_prefix(part.as_bytes()) {
            Some(tail) => {
                rest = tail;
                true
            }
            None => false,
        }) && rest.is_empty()
    })
}
