//! Clock and id source: the system's clock, or a time fixed by `INGRAIN_NOW` for tests and replays.

use engine::model::id::uuid_v7;
use engine::ports::Clock;
use jiff::Timestamp;
use uuid::Uuid;

/// The system's clock, or a fixed time.
pub struct SystemClock {
    fixed: Option<Timestamp>,
}

impl SystemClock {
    pub fn new(fixed: Option<Timestamp>) -> SystemClock {
        SystemClock { fixed }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        truncate_to_micros(self.fixed.unwrap_or_else(system_now))
    }

    fn fresh_id(&self) -> Uuid {
        let mut random = [0_u8; 10];
        // If the system has no randomness, mix the stack address and the nanoseconds. Ids must be unique, not secret,
        // and failing a save would be worse.
        if getrandom::fill(&mut random).is_err() {
            let nanos = system_now().as_nanosecond() as u64 ^ (std::ptr::from_ref(&random).addr() as u64);
            random[2..].copy_from_slice(&nanos.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        }
        // With a fixed time only the random part tells two ids apart.
        uuid_v7(self.now().as_microsecond(), random)
    }
}

#[expect(clippy::disallowed_methods, reason = "the only place that reads the system's clock")]
fn system_now() -> Timestamp {
    Timestamp::now()
}

/// Truncates to microseconds, the precision of both backends, so that a time read back equals the one written.
fn truncate_to_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_stands_still_and_ids_differ() {
        let at: Timestamp = "2026-03-01T12:00:00.123456789Z".parse().expect("a time");
        let clock = SystemClock::new(Some(at));
        assert_eq!(clock.now().to_string(), "2026-03-01T12:00:00.123456Z");
        assert_ne!(clock.fresh_id(), clock.fresh_id());
    }
}
