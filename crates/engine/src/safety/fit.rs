//! Whether a text fits a shape: all ways at once, so that the work is the text's length times the shape's pieces.
use super::shape::{Class, Part, UUID_CHARS};
use super::value::is_uuid;

/// Where the longest text of this shape that starts the bytes ends.
pub(super) fn fit(parts: &[Part<'_>], bytes: &[u8]) -> Option<usize> {
    let mut ends = vec![0];
    for part in parts {
        ends = match part {
            Part::Literal(text) => after(&ends, bytes, &[text]),
            Part::Choice(texts) => after(&ends, bytes, texts),
            Part::Run { class, least, most } => along(&ends, bytes, *class, (*least, most.unwrap_or(usize::MAX))),
            Part::Uuid => uuids(&ends, bytes),
        };
        if ends.is_empty() {
            return None;
        }
    }
    ends.last().copied()
}

/// The ends, in order, of one of the texts at any of the starts.
fn after(starts: &[usize], bytes: &[u8], texts: &[&str]) -> Vec<usize> {
    let mut ends: Vec<usize> = starts
        .iter()
        .flat_map(|&start| texts.iter().map(move |text| (start, text.as_bytes())))
        .filter_map(|(start, text)| bytes[start..].starts_with(text).then_some(start + text.len()))
        .collect();
    if texts.len() > 1 {
        ends.sort_unstable();
        ends.dedup();
    }
    ends
}

/// The ends of runs of the class from any of the starts, each end once.
fn along(starts: &[usize], bytes: &[u8], class: Class, (least, most): (usize, usize)) -> Vec<usize> {
    let mut ends = Vec::new();
    // Up to where the class was seen to go on without a break, looking no further than asked.
    let mut solid = 0;
    let mut next = 0;
    for &start in starts {
        let last = start.saturating_add(most).min(bytes.len());
        solid = solid.max(start);
        if solid < last {
            solid += bytes[solid..last].iter().take_while(|&&byte| class.has(byte)).count();
        }
        let last = solid.min(last);
        ends.extend((start + least).max(next)..=last);
        next = next.max(last + 1);
    }
    ends
}

fn uuids(starts: &[usize], bytes: &[u8]) -> Vec<usize> {
    let fits = |start: usize| bytes.get(start..start + UUID_CHARS).is_some_and(is_uuid);
    starts.iter().filter(|&&start| fits(start)).map(|start| start + UUID_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::super::shape::parse;
    use super::*;

    fn check(shape: &str, text: &str, end: Option<usize>) {
        assert_eq!(fit(&parse(shape), text.as_bytes()), end, "{shape} on {text}");
    }

    #[test]
    fn the_longest_fit_counts() {
        check("ab{d2}", "ab12", Some(4));
        check("ab{d2}", "ab1", None);
        check("ab{d2-3}", "ab12345", Some(5));
        check("ab{d2+}", "ab12345x", Some(7));
        check("ab{w2+}Z{d1}", "abxxZ1yyZ2zz", Some(10));
        check("a(b|bc)c{d1}", "abcc1", Some(5));
        check("a(b|bc)c{d1}", "abc1", Some(4));
        check("k-{uuid}", "k-7c9e6b1a-4d2f-4e83-9b57-d1f60a3c8e24", Some(38));
        check("k-{uuid}", "k-7c9e6b1a", None);
    }
}
