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
        let Some(stretch) = self.patterns.iter_mut().find(|stretch| stretch.pattern == pattern) else {
            self.patterns.push(PatternTries { pattern, from: at, tries: 1 });
            return true;
        };
        if at - stretch.from >= window / 2 {
            *stretch = PatternTries { pattern, from: at, tries: 0 };
        }
        stretch.tries += 1;
        stretch.tries <= TRIES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_anchor_is_tried_a_few_times_a_window() {
        let mut pace = ScanProgress::default();
        let tried = (0..10_000).filter(|&at| pace.may_try_pattern(7, at, 1000)).count();
        assert_eq!(tried, 10_000 / 500 * TRIES_MAX);
        assert!(pace.may_try_pattern(8, 0, 1000), "each pattern has its own pace");
    }
}
