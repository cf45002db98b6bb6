//! Rule `assigned_secret`: judges the value that a label announces (`password: …`, `API_KEY=…`, "the token is …").
//!
//! The stronger the label and the tighter the join between label and value, the less random the value must look.
use super::Severity;
use super::documented_keys;
use super::harmless_labels::{has_other_meaning, is_harmless_label, is_in_resource_name, is_random_name};
use super::label_join::{JUDGED_BYTES_MAX, LabelJoin, LabelValue, VALUE_BYTES_MAX, find_join, read_value};
use super::labels::LabelClaim;
use super::placeholder::is_placeholder;
use super::public_values::is_public_value;
use super::scan::{RuleHit, RuleWeight};
use super::value_before_label::{self, VALUE_BEFORE_BYTES};
use super::value_stats::{ValueStats, is_uuid};

/// Bytes on each side of a label word that may belong to the same identifier.
const LABEL_REACH_BYTES: usize = 48;

/// Result for one label word.
pub(super) struct JudgedLabel {
    /// Label words before this offset are skipped.
    pub(super) end: usize,
    /// A random run shortly after this label counts as its value (rule `nearby_secret`).
    pub(super) telling: bool,
}

/// Judges the value that the label word at `start..end` announces, and adds a hit if it is a secret.
pub(super) fn judge_label(
    text: &str,
    claim: LabelClaim,
    start: usize,
    end: usize,
    hits: &mut Vec<RuleHit>,
) -> JudgedLabel {
    let bytes = text.as_bytes();
    // `pw` only counts as a word of its own or at the end of one: `pwd_` has its own entry, `pwm` is no password.
    if bytes[..end].ends_with(b"pw") && bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return JudgedLabel { end: start, telling: false };
    }
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let from = start
        - bytes[start.saturating_sub(LABEL_REACH_BYTES)..start].iter().rev().take_while(|&&byte| in_name(byte)).count();
    let to =
        end + bytes[end..bytes.len().min(end + LABEL_REACH_BYTES)].iter().take_while(|&&byte| in_name(byte)).count();
    let label = text[from..to].trim_end_matches(['.', '-']);
    let to = from + label.len();
    // Only a strong word uses up its whole identifier: in `github_token` the weak `github` must not hide `token`.
    let strong = matches!(claim, LabelClaim::Key | LabelClaim::Password);
    let judged = JudgedLabel { end: if strong { to } else { end }, telling: strong };
    // Cheap exit for prose, where most labels occur: no digit before and no sign of a value after.
    let digits_before = bytes[from.saturating_sub(VALUE_BEFORE_BYTES)..from].iter().any(u8::is_ascii_digit);
    let follows = could_hold_value(&bytes[to..]);
    if !follows && !digits_before {
        return JudgedLabel { telling: false, ..judged };
    }
    if is_random_name(label)
        || is_harmless_label(label, start - from, end - from)
        || is_in_resource_name(text, from, to)
        || has_other_meaning(claim, text, from, label, (start - from, end - from))
    {
        return JudgedLabel { telling: false, ..judged };
    }
    if follows && let Some((join, at)) = find_join(text, to, is_flag_or_variable(bytes, from, label)) {
        let (value, _) = read_value(text, at, JUDGED_BYTES_MAX);
        // Judged by its start; only a secret is read to its end, so that redaction covers all of it.
        if is_plausible_secret(claim, join, &value, label) || is_uuid_key(text, from, claim, join, value.text) {
            let (value, value_start) = read_value(text, at, VALUE_BYTES_MAX);
            hits.push(RuleHit::secret(
                "assigned_secret",
                Severity::High,
                RuleWeight::Context,
                value_start,
                value_start + value.text.len(),
            ));
            return judged;
        }
    }
    if strong {
        value_before_label::judge_value_before(text, from, claim, hits);
    }
    judged
}

/// Whether the text after a label has a digit, a quote or a sign of assignment; without one it holds no value.
fn could_hold_value(after: &[u8]) -> bool {
    const VALUE_REACH_BYTES: usize = 110;
    after[..after.len().min(VALUE_REACH_BYTES)]
        .iter()
        .any(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'\'' | b'`' | b'=' | b':' | b'>' | b'|'))
        || after.first() == Some(&b',')
}

/// Whether the label is a flag (`--password x`) or an environment variable (`ENV DB_PASSWORD x`), whose value follows
/// after a space.
fn is_flag_or_variable(bytes: &[u8], from: usize, label: &str) -> bool {
    let before = &bytes[from.saturating_sub(8)..from];
    label.starts_with('-')
        || before.ends_with(b"-")
        || before.ends_with(b"ENV ")
        || before.ends_with(b"ARG ")
        || before.ends_with(b"set ")
        || before.ends_with(b"setx ")
        || before.ends_with(b"setenv ")
        || label.len() > 4
            && label.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether the value can be the secret that its label claims. First come the reasons that clear any value, then one arm
/// per claim and join. `tests/corpora.rs` checks the thresholds against real notes.
fn is_plausible_secret(claim: LabelClaim, join: LabelJoin, value: &LabelValue, label: &str) -> bool {
    const PASSWORD_CHARS_MIN: usize = 6;
    const KEY_CHARS_MIN: usize = 12;
    const WEAK_CHARS_MIN: usize = 24;
    const VENDOR_CHARS_MIN: usize = 16;
    // Shorter hex is a commit or a short hash.
    const HEX_CHARS_MIN: usize = 30;
    // With more `=` it is a list of assignments, not the value of one.
    const EQUALS_MAX: usize = 3;
    let text = value.text;
    if !value.quoted && text.trim_end_matches('=').bytes().filter(|&byte| byte == b'=').count() > EQUALS_MAX
        || is_placeholder(text)
        || documented_keys::is_documented(text.as_bytes())
        || text.contains("://")
        || is_public_value(text)
        || is_code(text, value.quoted)
        || !text.is_ascii() && claim != LabelClaim::Password
    {
        return false;
    }
    let stats = ValueStats::from_bytes(text.as_bytes());
    // Kinds of characters used, 1 to 4.
    let kinds = usize::from(stats.lower > 0)
        + usize::from(stats.upper > 0)
        + usize::from(stats.digits > 0)
        + usize::from(stats.symbols > 0);
    let named = is_reference_name(text, label, &stats)
        || is_hash_tagged(text, claim)
        || is_file_path(text)
        || text.matches('/').count() >= 2 && stats.has_wordy_share(4);
    let sentence = text.split_whitespace().count() > 2;
    match (claim, join) {
        _ if sentence || named => false,
        // Passwords: a person's choice, so mixed characters suffice where the join is explicit.
        (LabelClaim::Password, LabelJoin::Assign) if is_number_password(label, &stats) => true,
        (LabelClaim::Password, LabelJoin::Assign | LabelJoin::Space) => {
            text.len() >= PASSWORD_CHARS_MIN
                && (stats.digits > 0 && kinds >= 2
                    || kinds >= 3
                    || value.quoted && text.len() >= 10 && join == LabelJoin::Assign && !stats.is_wordy()
                    || stats.is_random())
        }
        (LabelClaim::Password, LabelJoin::Prose) => {
            text.len() >= PASSWORD_CHARS_MIN && stats.letter_count() > 2 && has_odd_case(text)
                || text.len() >= PASSWORD_CHARS_MIN
                    && stats.digits > 0
                    && kinds >= 2
                    && stats.letter_count() > 0
                    && !is_date_like(text)
                || text.len() >= 8 && kinds >= 3 && stats.upper * 2 <= stats.chars && !stats.is_wordy()
                || text.len() >= 8 && stats.is_random()
        }
        // Keys are machine-made: random, and longer in prose than in an assignment.
        (LabelClaim::Key, LabelJoin::Assign | LabelJoin::Space) => {
            text.len() >= KEY_CHARS_MIN && stats.is_random()
                || text.len() >= 8 && stats.is_random() && stats.digits > 0 && kinds >= 3 && label_is_secret(label)
        }
        (LabelClaim::Key, LabelJoin::Prose) => {
            text.len() >= 16 && stats.is_random()
                || text.len() >= KEY_CHARS_MIN
                    && stats.is_random()
                    && stats.symbols == 0
                    && stats.digits > 1
                    && label_is_secret(label)
        }
        // A bare space joins any two words, so all signs of a password are required.
        (LabelClaim::Password, LabelJoin::Bare) => {
            text.len() >= 8
                && stats.is_random()
                && stats.digits > 0
                && stats.lower > 0
                && stats.upper + stats.symbols > 0
                && !is_date_like(text)
                && !text.contains(['/', '(', '='])
        }
        (_, LabelJoin::Bare) => false,
        (LabelClaim::Vendor, LabelJoin::Prose) => false,
        // `spotify:track:…` names a resource of the service.
        (LabelClaim::Vendor, _)
            if text.split_once(':').is_some_and(|(kind, _)| kind.bytes().all(|byte| byte.is_ascii_lowercase())) =>
        {
            false
        }
        (LabelClaim::Vendor, _) => {
            text.len() >= VENDOR_CHARS_MIN
                && stats.is_random()
                && (!is_uuid(text.as_bytes()) || join == LabelJoin::Assign && issues_uuid_keys(label))
                && (!stats.is_hex() || text.len() >= HEX_CHARS_MIN)
        }
        (LabelClaim::KeySuffix, _) => {
            // `key: 3f9a…` alone is the key of a map more often than a secret.
            let bare = label.eq_ignore_ascii_case("key") && join != LabelJoin::Prose;
            text.len() >= VENDOR_CHARS_MIN
                && stats.is_random()
                && !is_uuid(text.as_bytes())
                && (!stats.is_hex() || !bare && text.len() >= HEX_CHARS_MIN)
        }
        (LabelClaim::Weak, _) => {
            text.len() >= WEAK_CHARS_MIN && stats.is_random() && !stats.is_hex() && stats.bits >= 3.5
        }
    }
}

/// Whether a lower-case word ends in capitals (`meadowZOX`), which prose and camel case do not.
fn has_odd_case(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at_end =
        |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).all(u8::is_ascii_uppercase);
    text.len() >= 10
        && text.contains(|mark: char| !mark.is_ascii_alphabetic())
        && (1..bytes.len()).any(|at| bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase() && at_end(at))
}

/// Whether digits alone are a password (`password: 48291057`): only under a label that means nothing else.
fn is_number_password(label: &str, stats: &ValueStats) -> bool {
    const NAMES: &str = "password,passwd,pwd,passcode,passwort,kennwort,contraseña,senha,wachtwoord,hasło,пароль,pw";
    const DIGITS: std::ops::RangeInclusive<usize> = 6..=20;
    let lower = label.to_ascii_lowercase();
    stats.digits == stats.chars
        && DIGITS.contains(&stats.chars)
        && !stats.is_sequential()
        && NAMES.split(',').any(|name| lower.ends_with(name))
}

/// Whether the label names a service whose keys are UUIDs; elsewhere a UUID is an id. To add one, append its name.
fn issues_uuid_keys(label: &str) -> bool {
    const SERVICES: &str = "heroku,scaleway,opsgenie,snyk,postmark,helius,axiom,launchdarkly,coda,frontegg,bunny,\
        pendo,twelvelabs,clickup,statuscake,nomad,consul,mailersend,logdna,honeybadger,fastspring,sumup,veriff,\
        zoomeye,hubspot,squarespace,moosend,blocknative,cliengo,duply,interseller,kucoin,loginradius,messagebird,\
        postbacks,salesmate,shortcut,zenscrape,zipcodebase,tokeet,transferwise,braze,saucelabs,codecov,duckdns,\
        leonardo,sambanova,coinapi,stadiamaps,lithic,statuspage,coinmarketcap,pinecone,splunk,datastax";
    let lower = label.to_ascii_lowercase();
    SERVICES.split(',').any(|service| lower.contains(service))
}

/// Whether a UUID is a key by the word before `key`: "the heroku key is 7c9e…".
fn is_uuid_key(text: &str, from: usize, claim: LabelClaim, join: LabelJoin, value: &str) -> bool {
    const OWNER_CHARS_MAX: usize = 24;
    if claim != LabelClaim::KeySuffix || join != LabelJoin::Prose || !is_uuid(value.as_bytes()) {
        return false;
    }
    let before = text[..from].trim_end_matches(' ');
    let chars = before.bytes().rev().take(OWNER_CHARS_MAX).take_while(u8::is_ascii_alphanumeric).count();
    issues_uuid_keys(&before[before.len() - chars..])
}

fn label_is_secret(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    lower.contains("secret") || lower.contains("token") || lower.contains("api")
}

/// Whether the text is a date, a time, a percentage or a number with a unit: `2026-03-11`, `90%`, `30-days`.
fn is_date_like(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'T' | b'Z' | b'.' | b'/' | b'%'))
        || text.as_bytes().first().is_some_and(u8::is_ascii_digit)
            && text
                .trim_start_matches(|mark: char| mark.is_ascii_digit())
                .trim_start_matches('-')
                .chars()
                .all(char::is_alphabetic)
}

/// Whether the text is a call, a member access, a template or a type: code that fetches a value, not the value.
pub(super) fn is_code(text: &str, quoted: bool) -> bool {
    let call =
        text.contains("()") || !quoted && text.contains("[:") || text.contains(")(") || !quoted && text.contains('(');
    let dotted = !quoted
        && text.contains('.')
        && text
            .split('.')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_'));
    let generic = !quoted && (text.contains("::") || text.contains("->") || text.contains("?;") || text.ends_with('{'));
    // Rest of an argument list behind a prompt: `getpass("Password: ", …)`.
    let rest = quoted && text.starts_with([',', ')', ';', ' ']);
    call || dotted || generic || rest || is_camel_case(text)
}

/// Whether the text is words in camel case, such as the name of a type: `TextIOWrapper`.
fn is_camel_case(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut words = 0;
    let mut at = 0;
    while at < bytes.len() {
        let upper = bytes[at..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = bytes[at + upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        // Each word has at most three capitals (an acronym and an initial) and two lower-case letters or more.
        if upper > 3 || upper == 0 && at > 0 || lower < 2 {
            return false;
        }
        words += 1;
        at += upper + lower;
    }
    // Words of fewer than about five letters each are random case, not words.
    words > 1 && words * 5 <= bytes.len() + 2
}

/// Whether the text is the path of a file: `certs/rsa-2048/end.key`.
fn is_file_path(text: &str) -> bool {
    const ENDINGS: &str =
        ".key,.pem,.crt,.cer,.json,.yaml,.yml,.toml,.txt,.p12,.pfx,.jks,.env,.conf,.ini,.gpg,.asc,.pub,.md";
    text.contains(['/', '\\']) && ENDINGS.split(',').any(|ending| text.ends_with(ending))
}

/// Whether the text is the name of a secret that is kept elsewhere: `orders-db-password`, `DB_PASSWORD`.
fn is_reference_name(text: &str, label: &str, stats: &ValueStats) -> bool {
    let lower = text.to_ascii_lowercase();
    let own = ["password", "passwd", "secret", "token", "credential", "api-key", "api_key", "apikey"]
        .iter()
        .any(|word| lower.contains(word));
    let constant = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
        && text.contains('_')
        && stats.digits * 4 < stats.chars;
    let kebab =
        stats.is_wordy() && stats.upper == 0 && text.contains(['-', '_', '/', '.']) && stats.digits * 5 < stats.chars;
    own && (stats.is_wordy() || kebab)
        || constant && stats.is_wordy()
        || kebab && !label.to_ascii_lowercase().contains("pass")
        || lower == label.to_ascii_lowercase()
}

/// Whether the text is a name or version that ends in a hash: `orders-linux-3f9a…`, `v1.2.3-3f9a…`.
fn is_hash_tagged(text: &str, claim: LabelClaim) -> bool {
    const HASH_CHARS_MIN: usize = 7;
    let Some((name, hash)) = text.rsplit_once(['-', '_', '+', ':']) else { return false };
    let hashed = hash.len() >= HASH_CHARS_MIN && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = name
        .trim_start_matches('v')
        .split(['.', '-', '+'])
        .take(2)
        .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let weak = !matches!(claim, LabelClaim::Key | LabelClaim::Password);
    hashed && (version && name.contains('.') || weak && !name.contains(|mark: char| mark.is_ascii_digit()))
}
