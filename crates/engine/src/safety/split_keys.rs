//! Keys split over variables: `a = "AKIA…"`, `b = "…"`, then `key = a + b`.
use super::random_runs::DecodedSpan;
use super::read_counter;

/// String variables remembered per text. Each joining statement searches them all, so the number is bounded.
const PIECES_MAX: usize = 48;
const NAME_CHARS_MAX: usize = 40;
const LINE_BYTES_MAX: usize = 400;
/// Characters of a joined value below which it is no key.
const WHOLE_CHARS_MIN: usize = 8;

struct KeyPiece<'t> {
    name: &'t str,
    text: &'t str,
    start: usize,
    end: usize,
}

/// Adds `name = "joined value"` to `decoded` for every statement that joins two or more known string variables. The
/// name stays with the value, since it may be the label that makes it a secret.
pub(super) fn join_split_keys(text: &str, decoded: &mut Vec<DecodedSpan>) {
    read_counter::record_read(text.len());
    // Two pieces and the statement that joins them are three assignments.
    if text.bytes().filter(|&byte| byte == b'=').take(3).count() < 3 {
        return;
    }
    let mut pieces: Vec<KeyPiece> = Vec::new();
    for (start, statement) in split_statements(text) {
        let Some((name, value, at)) = parse_assignment(statement, start) else { continue };
        match quoted_literal(value) {
            Some(piece) if pieces.len() < PIECES_MAX => {
                pieces.push(KeyPiece { name, text: piece, start: at + 1, end: at + 1 + piece.len() });
            }
            Some(_) => {}
            None => decoded.extend(join_pieces(name, value, &pieces)),
        }
    }
}

/// Statements (lines, split at semicolons) with their start offsets.
fn split_statements(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(['\n', ';']).scan(0, |at, statement| {
        let start = *at;
        *at += statement.len() + 1;
        Some((start, statement))
    })
}

/// Name, value and start of the value in `name = value`.
fn parse_assignment(statement: &str, start: usize) -> Option<(&str, &str, usize)> {
    if statement.len() > LINE_BYTES_MAX {
        return None;
    }
    let cut = statement.find('=')?;
    let value = statement[cut + 1..].trim_start_matches([' ', '\t']);
    let before = statement[..cut].trim_end_matches([' ', '\t', ':']);
    let (_, name) = before.rsplit_once(|mark| !is_name_char(mark)).unwrap_or(("", before));
    let value_at = start + statement.len() - value.len();
    let named = !name.is_empty() && name.len() <= NAME_CHARS_MAX && !value.starts_with('=');
    named.then_some((name, value.trim_end_matches([' ', '\t', '\r', ',']), value_at))
}

/// Content of a value that is one quoted literal; `None` for templates and expressions.
fn quoted_literal(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|mark| matches!(mark, '"' | '\'' | '`'))?;
    let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
    let plain = !inner.is_empty() && !inner.contains([quote, ' ', '$', '{', '%']);
    plain.then_some(inner)
}

/// The assignment with the pieces joined in the order in which the expression names them.
fn join_pieces(name: &str, value: &str, pieces: &[KeyPiece]) -> Option<DecodedSpan> {
    let mut text = String::new();
    let mut span: Option<(usize, usize)> = None;
    let mut used = 0;
    for word in value.split(|mark| !is_name_char(mark)).filter(|word| !word.is_empty()) {
        // The last assignment of a name wins.
        let Some(piece) = pieces.iter().rev().find(|piece| piece.name == word) else { continue };
        text.push_str(piece.text);
        span = span
            .map_or(Some((piece.start, piece.end)), |(start, end)| Some((start.min(piece.start), end.max(piece.end))));
        used += 1;
    }
    let (start, end) = span.filter(|_| used > 1 && text.len() >= WHOLE_CHARS_MIN)?;
    Some(DecodedSpan { text: format!("{name} = \"{text}\""), start, end })
}

fn is_name_char(mark: char) -> bool {
    mark.is_ascii_alphanumeric() || mark == '_'
}
