//! Rules `database_url` and `url_credentials`: passwords in URLs, `scheme://user:password@host`.
use super::placeholder;
use super::scan::{RuleHit, RuleWeight};
use super::value_stats::ValueStats;
use super::{Severity, read_counter};

/// Schemes of databases and brokers; their URLs are reported as `database_url`. To add one, append it in lower case.
const DATABASE_SCHEMES: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mongodb",
    "mongodb+srv",
    "redis",
    "rediss",
    "amqp",
    "amqps",
    "mssql",
    "sqlserver",
    "oracle",
    "cockroachdb",
    "clickhouse",
    "cassandra",
    "couchdb",
    "couchbase",
    "neo4j",
    "bolt",
    "influxdb",
    "memcached",
    "nats",
    "kafka",
    "mqtt",
    "mqtts",
    "elasticsearch",
    "snowflake",
    "redshift",
    "vertica",
    "firebird",
    "db2",
    "libsql",
    "ldap",
    "ldaps",
];
/// Hosts of development set-ups and documentation, where the password may equal the user (`postgres:postgres`).
const LOCAL_HOSTS: &[&str] =
    &["localhost", "127.0.0.1", "example.com", "example.org", "host.docker.internal", "host", "hostname", "[::1]"];
const AUTHORITY_BYTES_MAX: usize = 300;
const SCHEME_BYTES_MAX: usize = 24;

/// Judges the URL whose `://` is at `at`. Returns the offset before which no other `://` needs to be judged.
pub(super) fn scan_url(text: &str, at: usize, hits: &mut Vec<RuleHit>) -> usize {
    let bytes = text.as_bytes();
    read_counter::record_read(bytes.len().min(at + 3 + AUTHORITY_BYTES_MAX) - at);
    // Most URLs have no `@` and are done after this search.
    let window = &bytes[at + 3..bytes.len().min(at + 3 + AUTHORITY_BYTES_MAX)];
    let token_len = window
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'|'))
        .unwrap_or(window.len());
    let token = &window[..token_len];
    if !token.contains(&b'@') {
        hits.extend(find_wrapped_password(window, token_len, at));
        return at + 3 + token_len;
    }
    scan_userinfo(text, at, token, hits);
    at + 3
}

/// Judges the user part of a URL, `user:password` or a token alone.
fn scan_userinfo(text: &str, at: usize, token: &[u8], hits: &mut Vec<RuleHit>) {
    let bytes = text.as_bytes();
    let scheme_len = bytes[at.saturating_sub(SCHEME_BYTES_MAX)..at]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
        .count();
    let scheme = text[at - scheme_len..at].to_ascii_lowercase();
    let start = at + 3;
    let authority_len = token.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(token.len());
    let is_database = DATABASE_SCHEMES
        .contains(&scheme.trim_start_matches("jdbc:").split('+').next().unwrap_or_default())
        || scheme.starts_with("mongodb");
    // A raw slash in a database password is common enough to look past it.
    let reach = if is_database { token.len() } else { authority_len };
    // The last `@` of the authority: passwords may contain one.
    let Some(user_len) = token[..authority_len]
        .iter()
        .rposition(|&byte| byte == b'@')
        .or_else(|| token[..reach].iter().position(|&byte| byte == b'@'))
    else {
        return;
    };
    let Ok(user) = std::str::from_utf8(&token[..user_len]) else { return };
    let host = String::from_utf8_lossy(&token[user_len + 1..]).to_ascii_lowercase();
    let Some((name, password)) = user.split_once(':') else {
        scan_lone_token(user, start, hits);
        return;
    };
    let local = LOCAL_HOSTS.iter().any(|other| {
        host.strip_prefix(other)
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '-' || next == '.'))
    });
    // A placeholder passes on any host, a password equal to the user on local hosts only.
    let trivial = password.eq_ignore_ascii_case(name) || placeholder::is_placeholder(password);
    if password.is_empty() || trivial && (local || placeholder::is_placeholder(password)) {
        return;
    }
    let rule = if is_database { "database_url" } else { "url_credentials" };
    hits.push(RuleHit::secret(
        rule,
        Severity::Critical,
        RuleWeight::Format,
        at - scheme_len,
        start + token.len().min(user_len + 1 + host_len(&token[user_len + 1..])),
    ));
}

/// Hit for a URL whose password continues on the next line. The joined password must look random: a `:` before a line
/// break and an `@` after it are common in prose.
fn find_wrapped_password(window: &[u8], token_len: usize, at: usize) -> Option<RuleHit> {
    const GAP_BYTES_MAX: usize = 16;
    let head = window[..token_len].strip_suffix(b"\\").unwrap_or(&window[..token_len]);
    let cut = head.iter().position(|&byte| byte == b':')?;
    let gap = window[token_len..]
        .iter()
        .take(GAP_BYTES_MAX)
        .take_while(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t' | b'>'))
        .count();
    let tail = window[token_len + gap..].split(u8::is_ascii_whitespace).next()?;
    let close = tail.iter().position(|&byte| byte == b'@')?;
    let password = [&head[cut + 1..], &tail[..close]].concat();
    let stats = ValueStats::from_bytes(&password);
    let plain = !head.contains(&b'/') && !tail[..close].contains(&b'/');
    let ends = window[token_len..token_len + gap].contains(&b'\n');
    let start = at + 3;
    (ends && plain && stats.is_random()).then(|| {
        RuleHit::secret(
            "url_credentials",
            Severity::Critical,
            RuleWeight::Format,
            start,
            start + token_len + gap + tail.len(),
        )
    })
}

/// Length of host, port and path without closing punctuation: the finding covers the whole URL.
fn host_len(rest: &[u8]) -> usize {
    let end =
        rest.iter().position(|byte| matches!(byte, b'<' | b'>' | b')' | b']' | b',' | b';')).unwrap_or(rest.len());
    rest[..end].iter().rposition(|&byte| byte != b'.').map_or(0, |last| last + 1)
}

/// Judges `https://TOKEN@host`: a secret only if it looks random, since user names stand here too.
fn scan_lone_token(user: &str, start: usize, hits: &mut Vec<RuleHit>) {
    const TOKEN_CHARS_MIN: usize = 20;
    let stats = ValueStats::from_bytes(user.as_bytes());
    if user.len() >= TOKEN_CHARS_MIN
        && stats.is_random()
        && !stats.is_hex()
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    {
        hits.push(RuleHit::secret("url_credentials", Severity::High, RuleWeight::Format, start, start + user.len()));
    }
}
