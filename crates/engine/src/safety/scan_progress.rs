//! Positions up to which rules have read. A text that repeats an anchor thousands of times would otherwise be read anew
//! from each of them; with these bounds every byte is read a small number of times.

/// How far the rules with long windows have read.
#[derive(Default)]
pub(super) struct ScanProgress {
    /// End of the last URL that was judged; a `://` before it is part of that URL.
    pub(super) address_until: usize,
    /// Where the search for the end of a ciphertext resumes.
    pub(super) ciphertext_until: usize,
    patterns: Vec<PatternTries>,
}

/// Tries of one pattern in the current half window.
struct PatternTries {
    pattern: u16,
    from: usize,
    tries: usize,
}

/// Tries of one pattern per half window. Real documents repeat an anchor less often.
const TRIES_MAX: usize = 8;

impl ScanProgress {
    /// Whether the pattern may be tried at `at`; positions must ascend. After [`TRIES_MAX`] tries it pauses until half
    /// a window further on. Half, so that the windows of consecutive tries overlap and no secret falls between them.
    pub(super) fn may_try_pattern(&mut self, pattern: u16, at: usize, window: usize) -> bool {
        let Some(window_tries) = self.patterns.iter_mut().find(|window_tries| window_tries.pattern == pattern) else {
            self.patterns.push(PatternTries { pattern, from: at, tries: 1 });
            return true;
        };
        if at - window_tries.from >= window / 2 {
            *window_tries = PatternTries { pattern, from: at, tries: 0 };
        }
        window_tries.tries += 1;
        window_tries.tries <= TRIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_anchor_is_tried_a_few_times_a_window() {
        let mut progress = ScanProgress::default();
        let tried = (0..10_000).filter(|&at| progress.may_try_pattern(7, at, 1000)).count();
        assert_eq!(tried, 10_000 / 500 * TRIES_MAX);
        assert!(progress.may_try_pattern(8, 0, 1000), "each pattern has its own progress");
    }
}
