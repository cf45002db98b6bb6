//! Rate limits: a token bucket per key or address, which refills at a steady rate.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::lock_unpoisoned;

/// Most buckets; beyond it the fullest are dropped. Bounds memory, far above any real number of keys.
const BUCKETS_MAX: usize = 50_000;

/// Token buckets by name.
pub(crate) struct RateLimiter {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

/// Whether one more call is allowed, and what is left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RateDecision {
    pub(crate) allowed: bool,
    pub(crate) remaining: u32,
    /// Time until the bucket is full again; for a refused call, until one more is allowed.
    pub(crate) reset: Duration,
}

impl RateLimiter {
    pub(crate) fn new(per_second: u32, burst: u32) -> RateLimiter {
        RateLimiter::with_rate(f64::from(per_second.max(1)), burst)
    }

    pub(crate) fn with_rate(per_second: f64, burst: u32) -> RateLimiter {
        RateLimiter { per_second, burst: f64::from(burst.max(1)), buckets: Mutex::default() }
    }

    pub(crate) fn burst(&self) -> u32 {
        self.burst as u32
    }

    /// Takes one token, if there is one.
    pub(crate) fn take_token(&self, name: &str, now: Instant) -> RateDecision {
        self.spend_tokens(name, now, 1.0)
    }

    /// Checks without taking a token.
    pub(crate) fn peek_tokens(&self, name: &str, now: Instant) -> RateDecision {
        self.spend_tokens(name, now, 0.0)
    }

    fn spend_tokens(&self, name: &str, now: Instant, cost: f64) -> RateDecision {
        let mut buckets = lock_unpoisoned(&self.buckets);
        if cost > 0.0 && buckets.len() >= BUCKETS_MAX && !buckets.contains_key(name) {
            self.drop_fullest(&mut buckets, now);
        }
        let bucket = buckets.get(name).copied().unwrap_or(Bucket { tokens: self.burst, at: now });
        let tokens = self.refilled_tokens(bucket, now);
        let allowed = tokens >= 1.0;
        let left = if allowed { tokens - cost } else { tokens };
        if cost > 0.0 {
            match buckets.get_mut(name) {
                Some(bucket) => *bucket = Bucket { tokens: left, at: now },
                None => drop(buckets.insert(name.to_owned(), Bucket { tokens: left, at: now })),
            }
        }
        let missing = if allowed { self.burst - left } else { 1.0 - left };
        RateDecision {
            allowed,
            remaining: left as u32,
            reset: Duration::from_secs_f64(missing.max(0.0) / self.per_second),
        }
    }

    /// Drops the fuller half of the buckets. Those that are empty, whose callers are being limited, stay. Half of them
    /// at once, so that a flood of new names does not cost a sort each.
    fn drop_fullest(&self, buckets: &mut HashMap<String, Bucket>, now: Instant) {
        let mut levels: Vec<f64> = buckets.values().map(|bucket| self.refilled_tokens(*bucket, now)).collect();
        let middle = levels.len() / 2;
        let (_, median, _) = levels.select_nth_unstable_by(middle, f64::total_cmp);
        let median = *median;
        // Many may be exactly as full as the median; only some of them fit beside the emptier ones.
        let mut room = middle - levels.iter().filter(|level| **level < median).count();
        buckets.retain(|_, bucket| {
            let level = self.refilled_tokens(*bucket, now);
            let keep = level < median || (level == median && room > 0);
            room -= usize::from(keep && level == median);
            keep
        });
    }

    fn refilled_tokens(&self, bucket: Bucket, now: Instant) -> f64 {
        let waited = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.tokens + waited * self.per_second).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let rates = RateLimiter::new(2, 3);
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let check = |millis, name, allowed, remaining| {
            let decision = rates.take_token(name, at(millis));
            assert_eq!((decision.allowed, decision.remaining), (allowed, remaining), "{millis} {name}");
        };
        check(0, "a", true, 2);
        check(0, "a", true, 1);
        check(0, "a", true, 0);
        check(0, "a", false, 0);
        check(0, "b", true, 2);
        check(500, "a", true, 0);
        check(600, "a", false, 0);
        check(60_000, "a", true, 2);
    }

    #[test]
    fn more_names_than_buckets_are_limited_too_and_an_empty_bucket_stays_empty() {
        let rates = RateLimiter::with_rate(0.001, 2);
        let now = Instant::now();
        for _ in 0..2 {
            assert!(rates.take_token("loud", now).allowed);
        }
        for n in 0..3 * BUCKETS_MAX {
            assert!(rates.take_token(&n.to_string(), now).allowed);
        }
        assert!(!rates.take_token("loud", now).allowed, "an empty bucket is not forgotten for full ones");
        assert!(rates.take_token("late", now).allowed);
        assert!(rates.take_token("late", now).allowed);
        assert!(!rates.take_token("late", now).allowed, "beyond the bound new names are charged too");
        assert!(lock_unpoisoned(&rates.buckets).len() <= BUCKETS_MAX);
    }
}
