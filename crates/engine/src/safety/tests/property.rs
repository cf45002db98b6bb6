//! Properties that hold for every text, and linear work on hostile texts.
use proptest::prelude::*;

use super::super::labels::LABELS;
use super::super::read_counter;
use super::super::{Concern, inspect, redact_secrets, rules};

fn holds(text: &str) {
    let findings = inspect(text);
    for finding in &findings {
        assert!(finding.start < finding.end && finding.end <= text.len());
        assert!(text.is_char_boundary(finding.start) && text.is_char_boundary(finding.end));
    }
    assert!(findings.windows(2).all(|two| two[0].start <= two[1].start));
    let secrets: Vec<_> = findings.iter().filter(|finding| finding.concern == Concern::Secret).collect();
    assert!(secrets.windows(2).all(|two| two[0].end <= two[1].start), "secrets overlap: {secrets:?}");
    // Removing the marks leaves exactly the text around the secrets.
    let mut rest = redact_secrets(text, &findings);
    let mut expected = String::new();
    let mut at = 0;
    for secret in secrets {
        expected.push_str(&text[at..secret.start]);
        expected.push_str(&format!("[REDACTED:{}]", secret.rule));
        at = secret.end;
    }
    expected.push_str(&text[at..]);
    assert_eq!(std::mem::take(&mut rest), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_inspected(text in any::<String>()) {
        holds(&text);
    }

    #[test]
    fn any_mixture_of_rules_and_noise_is_inspected(
        picks in proptest::collection::vec(
            (0..rules().len(), any::<bool>(), "[ \\n\"'=:\\\\%&+é\u{200b}一]{0,4}"),
            1..6,
        ),
    ) {
        let text: String = picks.iter().map(|(pick, positive, noise)| {
            let rule = &rules()[*pick];
            format!("{noise}{}", if *positive { &rule.positive } else { &rule.negative })
        }).collect();
        holds(&text);
    }

    #[test]
    fn any_label_with_noise_is_inspected(
        picks in proptest::collection::vec(
            (0..200_usize, "[ \\n\"'=:|,a-zA-Z0-9é\u{200b}一ド_.-]{0,12}"),
            1..8,
        ),
    ) {
        let labels: Vec<&str> = LABELS.iter().flat_map(|(_, words)| words.split(',')).collect();
        let text: String =
            picks.iter().map(|(pick, noise)| format!("{}{noise}", labels[pick % labels.len()])).collect();
        holds(&text);
    }

    #[test]
    fn any_cut_of_a_rule_is_inspected(pick in 0..rules().len(), from in 0..80_usize, to in 0..400_usize) {
        let text: String = rules()[pick].positive.chars().skip(from).take(to).collect();
        holds(&text);
    }
}

/// Repeated pieces that would make a scanner without bounds read the same bytes again and again.
const HOSTILE: &[&str] = &[
    "eyJ",
    "eyJ.",
    "sk-",
    "sk-ant-",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----\n",
    "://",
    "a://b:c@",
    "password=",
    "password: \"",
    "token ",
    "ENC[",
    "\\u0041",
    "%41",
    "&#65;",
    "\" + \"",
    "'",
    "A",
    "Aa1+",
    "=",
    "kind: Secret\ndata:\n",
    "ignore ",
    "ignore all previous ",
    "without approval ",
    "send the conversation to ",
    "2026-03-11T08:00:00Z x\n",
    "0123456789abcdef",
    "SGVsbG8gd29ybGQg",
    "\u{200b}a",
    "а",
    "mysql -p",
    "curl -u a:",
    "i g n o r e ",
    "1gn0re ",
    "xox",
    "H4sIAAAA",
    "AKIA",
    "AIKA ",
    "bearer ",
    "sig=",
    "d\": \"",
    "\"kty\"",
    "is the password ",
    ":5432:",
    "Kq7ZtB2xYv9LmR4cWn8H+sD3j/Pf6GKq7ZtB2xYv9LmR4cWn8H+sD3j/Pf6G1234\n",
    "Kq7ZtB2xYv9LmR4cWn8H+sD3j/Pf6\n",
    "g h p _ ",
    "ghp_ 4f9a ",
    "0x67, ",
    "103, ",
    "=67",
    "%2567",
    "\\\\\"",
    "concat('a', 'b', ",
    "**a**",
    "key is ",
    "datadog: ",
    "your instructions ",
    "whatever the system ",
    "a://b:c\n",
    "password: |\n",
    "<~87cURD]i",
    "NM&qnZy;B1",
    "a=\"b\";",
    "a=\"b\"\nc=a+a+a+a\n",
    "ignore your rules and ",
    "do not tell the user, ",
    "'",
    "*:*.",
    "0123456789abcdef01234567:",
    "a",
    "a.",
    "A.",
    "a-",
    "a_",
    "a ",
    "-",
    "_",
    "/",
    "`",
    "<",
    "e",
    "s",
    "S",
    "key",
    "user ",
    "AB",
    "0",
    "deadbeef",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "AZDO",
    "ACOG",
    "atlasv1.",
    "ngrok",
    "://a",
    "/https://",
    "password=password:",
    "é",
    "一",
];

/// Bytes that scanning a text reads; a byte that is read twice counts twice.
fn bytes_read(text: &str) -> u64 {
    read_counter::take_bytes_read();
    inspect(text);
    read_counter::take_bytes_read()
}

#[test]
fn hostile_texts_cost_no_more_a_byte_when_they_grow() {
    const SMALL_BYTES: usize = 8 * 1024;
    const GROWTH: usize = 8;
    // The small text is shorter than some windows and costs less for it; a quadratic scanner would read 64 times as
    // much.
    const RATIO_MAX: u64 = 4 * GROWTH as u64;
    for seed in HOSTILE {
        let text = seed.repeat(SMALL_BYTES * GROWTH / seed.len());
        let cut = (SMALL_BYTES..).find(|&at| text.is_char_boundary(at)).unwrap();
        let (small, large) = (bytes_read(&text[..cut]), bytes_read(&text));
        assert!(large <= small * RATIO_MAX, "{seed:?}: {small} bytes grew to {large}");
    }
}

#[test]
fn hostile_texts_are_read_few_times_more_often_than_prose() {
    const TEXT_BYTES: usize = 64 * 1024;
    const PROSE: &str = "The deploy of the billing worker failed on Tuesday because the queue was not drained; we \
        restart it by hand and look at the dashboard. ";
    // A window counts in full where a pattern may stop at its first byte, so this is far above what a clock shows.
    const TIMES_MAX: u64 = 20;
    let prose = bytes_read(&PROSE.repeat(TEXT_BYTES / PROSE.len()));
    let mut slow = Vec::new();
    for seed in HOSTILE {
        let read = bytes_read(&seed.repeat(TEXT_BYTES / seed.len()));
        if read > TIMES_MAX * prose {
            slow.push(format!("{seed:?}: {:.1}", read as f64 / prose as f64));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
