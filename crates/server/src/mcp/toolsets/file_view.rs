//! Rendering of files and folders for the memory tool: numbered lines, two levels of folders, readable sizes.

use std::collections::BTreeMap;

/// A file with line numbers, or the lines `from..=to` of it (`-1`: to the end).
pub(super) fn render_file(path: &str, content: &str, range: Option<[i64; 2]>) -> String {
    let lines: Vec<&str> = content.split('\n').collect();
    let [from, to] = range.unwrap_or([1, -1]);
    let first = usize::try_from(from.max(1)).unwrap_or(1);
    // Any negative end means the last line.
    let last = usize::try_from(to).unwrap_or(lines.len()).min(lines.len());
    let shown = lines.iter().enumerate().filter(|(at, _)| (first..=last).contains(&(at + 1)));
    let body: Vec<String> = shown.map(|(at, line)| numbered_line(at + 1, line)).collect();
    format!("Here's the content of {path} with line numbers:\n{}", body.join("\n"))
}

fn numbered_line(number: usize, line: &str) -> String {
    format!("{number:>6}\t{line}")
}

/// A folder with two levels of entries. `inner` is its path inside the store; `files` are paths and sizes of files.
pub(super) fn render_folder(path: &str, inner: &str, files: &[(String, u64)]) -> String {
    let mut entries: BTreeMap<String, u64> = BTreeMap::new();
    let mut total = 0;
    for (file, size) in files {
        let rest = file[inner.len()..].trim_start_matches('/');
        let segments: Vec<&str> = rest.split('/').collect();
        // Hidden entries, as in the tool's contract.
        if segments.iter().any(|segment| segment.starts_with('.')) {
            continue;
        }
        total += size;
        for depth in 1..=segments.len().min(2) {
            let folder = if depth < segments.len() { "/" } else { "" };
            *entries.entry(format!("{path}/{}{folder}", segments[..depth].join("/"))).or_default() += size;
        }
    }
    let mut lines = vec![format!("{}\t{path}/", format_size(total))];
    lines.extend(entries.iter().map(|(entry, size)| format!("{}\t{entry}", format_size(*size))));
    format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:\n{}",
        lines.join("\n")
    )
}

/// `0B`, `2K`, `1.5K`: powers of 1024, with one decimal unless it is zero.
fn format_size(bytes: u64) -> String {
    let (mut size, mut units) = (bytes as f64, ["B", "K", "M", "G"].iter());
    let mut unit = units.next().unwrap_or(&"B");
    while size >= 1024.0 {
        let Some(next) = units.next() else { break };
        size /= 1024.0;
        unit = next;
    }
    let rounded = (size * 10.0).round() / 10.0;
    match rounded.fract() == 0.0 {
        true => format!("{rounded:.0}{unit}"),
        false => format!("{rounded:.1}{unit}"),
    }
}

/// The changed lines, with two lines of context before and after.
pub(super) fn render_snippet(content: &str, at: usize, new: &str) -> String {
    let first = content[..at].matches('\n').count();
    let last = first + new.matches('\n').count();
    let around = first.saturating_sub(2)..=last + 2;
    let lines = content.split('\n').enumerate().filter(|(line, _)| around.contains(line));
    lines.map(|(line, text)| numbered_line(line + 1, text)).collect::<Vec<_>>().join("\n")
}

/// The content with `text` inserted after line `line` (0: before the first). The error is the number of lines, if there
/// is no such line.
pub(super) fn insert_after_line(content: &str, line: i64, text: &str) -> Result<String, usize> {
    // The newline at the end closes the last line and opens none.
    let body = content.strip_suffix('\n').unwrap_or(content);
    let mut lines: Vec<&str> = if body.is_empty() { Vec::new() } else { body.split('\n').collect() };
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len()).ok_or(lines.len())?;
    lines.insert(at, text.trim_end_matches('\n'));
    Ok(lines.join("\n") + "\n")
}

/// Decodes percent escapes, so that a `..` written as `%2e%2e` is recognised.
pub(super) fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let hex = |at: usize| {
        bytes
            .get(at..at + 2)
            .and_then(|pair| std::str::from_utf8(pair).ok())
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, hex(at + 1)) {
            (b'%', Some(value)) => {
                decoded.push(value);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_for_people() {
        for (bytes, shown) in [(0, "0B"), (512, "512B"), (1536, "1.5K"), (2048, "2K"), (3_145_728, "3M")] {
            assert_eq!(format_size(bytes), shown);
        }
    }

    #[test]
    fn a_folder_shows_two_levels_without_hidden_entries() {
        let files =
            [("a.md".to_owned(), 10), ("b/c.md".to_owned(), 20), ("b/d/e.md".to_owned(), 30), (".git/x".to_owned(), 1)];
        let shown = render_folder("/memories", "", &files);
        let lines: Vec<&str> = shown.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "60B\t/memories/",
                "10B\t/memories/a.md",
                "50B\t/memories/b/",
                "20B\t/memories/b/c.md",
                "30B\t/memories/b/d/"
            ]
        );
    }

    #[test]
    fn inserting_keeps_one_newline_at_the_end() {
        assert_eq!(insert_after_line("a\nb\n", 0, "x\n\n"), Ok("x\na\nb\n".to_owned()));
        assert_eq!(insert_after_line("a\nb", 2, "x"), Ok("a\nb\nx\n".to_owned()));
        assert_eq!(insert_after_line("a\nb", 3, "x"), Err(2));
        assert_eq!(insert_after_line("", 0, "x"), Ok("x\n".to_owned()));
        assert_eq!(insert_after_line("a", -1, "x"), Err(1));
    }

    #[test]
    fn disguised_dots_are_seen() {
        assert_eq!(percent_decode("/%2e%2e/x%"), "/../x%");
    }
}
