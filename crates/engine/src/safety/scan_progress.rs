//! Keeps a text that repeats a rule's anchor from being read over and over: work stays a few readings a byte.

/// How far some rules have read.
#[derive(Default)]
pub(super) struct ScanProgress {
    /// Addresses before this place belong to one that was judged.
    pub(super) address_until: usize,
    /// No ciphertext is closed before this place.
    pub(super) ciphertext_until: usize,
    patterns: Vec<PatternTries>,
}

/// One window's length in which a pattern is tried.
struct PatternTries {
    pattern: u16,
    from: usize,
    tries: usize,
}

/// No document repeats an anchor more often within one window; hostile ones do.
const TRIES_MAX: usize = 8;

impl ScanProgress {
    /// Whether a pattern is tried at a place. Past its tries it waits until half a window on, so that windows still overlap.
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
