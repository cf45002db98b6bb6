//! Splits Markdown by heading.

/// Headings of this level and above begin a section; deeper ones stay in its text.
const LEVEL_MAX: usize = 3;

/// A part of a Markdown text below its headings.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Headings from the outermost to its own. Empty before the first heading.
    pub headings: Vec<String>,
    pub body: String,
}

/// Sections with text, in order. The one heading of level 1 at the top is the title of the file: it is the heading of
/// its own text only, not of the sections below.
pub fn split_sections(text: &str) -> Vec<Section> {
    let mut trail: Vec<(usize, String)> = Vec::new();
    let mut sections = vec![Section { headings: Vec::new(), body: String::new() }];
    let mut fence: Option<Fence> = None;
    let (mut is_commented, mut first_level) = (false, None);
    for line in text.lines() {
        let opens_fence = find_fence(line);
        let heading = match (&fence, is_commented) {
            (None, false) => parse_heading(line),
            _ => None,
        };
        if !is_commented {
            fence = match (fence, opens_fence) {
                (None, Some((fence, _))) => Some(fence),
                // Closed by at least as many of the same character, and nothing after them.
                (Some(open), Some((close, rest)))
                    if close.mark == open.mark && close.length >= open.length && rest.trim().is_empty() =>
                {
                    None
                }
                (fence, _) => fence,
            };
        }
        if fence.is_none() {
            is_commented = ends_in_comment(line, is_commented);
        }
        match heading {
            Some((level, title)) => {
                first_level = first_level.or(Some(level));
                trail.retain(|(other, _)| *other < level);
                trail.push((level, title));
                let headings = trail.iter().map(|(_, title)| title.clone()).collect();
                sections.push(Section { headings, body: String::new() });
            }
            None => {
                if let Some(section) = sections.last_mut() {
                    section.body.push_str(line);
                    section.body.push('\n');
                }
            }
        }
    }
    if first_level == Some(1) {
        drop_document_title(&mut sections);
    }
    sections.retain(|section| !section.body.trim().is_empty());
    sections
}

struct Fence {
    mark: char,
    length: usize,
}

/// A code fence that the line begins with, and the rest of the line.
fn find_fence(line: &str) -> Option<(Fence, &str)> {
    let start = line.trim_start();
    let mark = start.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = start.chars().take_while(|c| *c == mark).count();
    (length >= 3).then(|| (Fence { mark, length }, &start[length..]))
}

/// Whether an HTML comment is open at the end of the line.
fn ends_in_comment(line: &str, mut is_open: bool) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(if is_open { "-->" } else { "<!--" }) {
        rest = &rest[at + if is_open { 3 } else { 4 }..];
        is_open = !is_open;
    }
    is_open
}

/// Level and text of a heading `# …`.
fn parse_heading(line: &str) -> Option<(usize, String)> {
    // Four spaces begin a code block.
    let indent = line.len() - line.trim_start_matches(' ').len();
    let start = line.trim_start();
    let level = start.chars().take_while(|c| *c == '#').count();
    let title = start.get(level..)?;
    let is_heading = indent <= 3 && (1..=LEVEL_MAX).contains(&level) && title.starts_with([' ', '\t']);
    let title = title.trim().trim_end_matches('#').trim();
    (is_heading && !title.is_empty()).then(|| (level, title.replace(['*', '`'], "")))
}

/// Removes a single heading of level 1 at the top from the sections below it.
fn drop_document_title(sections: &mut [Section]) {
    let roots: Vec<&String> =
        sections.iter().filter(|section| section.headings.len() == 1).filter_map(|s| s.headings.first()).collect();
    let is_single = sections.iter().skip(1).all(|section| section.headings.first() == sections[1].headings.first());
    let is_title = roots.len() == 1 && is_single && sections.len() > 2;
    if is_title {
        for section in sections.iter_mut().filter(|section| section.headings.len() > 1) {
            section.headings.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, String)> {
        let section = |section: Section| (section.headings.join(" > "), section.body.trim().to_owned());
        split_sections(text).into_iter().map(section).collect()
    }

    #[test]
    fn sections_have_their_headings_and_code_has_none() {
        let text = "intro\n# Shop\nWhat it is.\n## Build\n```sh\n# not a heading\nmake\n```\n### Fast\n\
                    make -j\n#### deep\nx\n## Test ##\nmake test\n<!--\n# hidden\n-->\n";
        let expected = [
            ("", "intro"),
            ("Shop", "What it is."),
            ("Build", "```sh\n# not a heading\nmake\n```"),
            ("Build > Fast", "make -j\n#### deep\nx"),
            ("Test", "make test\n<!--\n# hidden\n-->"),
        ];
        let found = split(text);
        let found: Vec<(&str, &str)> = found.iter().map(|(head, body)| (head.as_str(), body.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn two_top_headings_stay_in_the_trail() {
        let found = split("# A\na\n## Sub\nb\n# B\nc\n");
        let heads: Vec<&str> = found.iter().map(|(head, _)| head.as_str()).collect();
        assert_eq!(heads, ["A", "A > Sub", "B"]);
        let found = split("## A\na\n### Sub\nb\n");
        assert_eq!(found.iter().map(|(head, _)| head.as_str()).collect::<Vec<_>>(), ["A", "A > Sub"]);
        assert_eq!(split("#no space\n####### seven\n"), [(String::new(), "#no space\n####### seven".to_owned())]);
    }
}
