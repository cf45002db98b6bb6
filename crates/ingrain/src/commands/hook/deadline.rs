//! The time limit of a hook: past it, the process ends with 0, whatever it is doing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::log::{HookLog, LogEntry, Outcome};

/// Held while the answer or the log line is written, so that neither is cut in the middle.
#[derive(Clone)]
pub struct Deadline(Arc<Mutex<()>>);

/// An answer that nobody reads blocks its writer; after this many limits the process ends all the same.
const LIMITS_WHILE_ANSWERING: u32 = 2;

impl Deadline {
    /// Starts the clock in a thread of its own. `entry` is what the log says if the time is over.
    pub fn start(limit: Duration, log: HookLog, entry: LogEntry) -> Deadline {
        let deadline = Deadline(Arc::default());
        let writing = deadline.0.clone();
        let watch = move || {
            std::thread::sleep(limit);
            for _ in 0..LIMITS_WHILE_ANSWERING {
                if writing.try_lock().is_ok() {
                    break;
                }
                std::thread::sleep(limit);
            }
            log.append(&entry.ended(&Outcome::failed("hook.too_slow"), limit));
            std::process::exit(0);
        };
        // Without a thread there is no limit; the clients have one of their own.
        let _ = std::thread::Builder::new().name("deadline".to_owned()).spawn(watch);
        deadline
    }

    /// Runs `write` to its end, also if the time is over meanwhile.
    pub fn while_answering(&self, write: impl FnOnce()) {
        let _held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write();
    }

    /// Runs the last step of the process. The lock is never given back: the time limit has nothing more to end.
    pub fn finish(self, write: impl FnOnce()) {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write();
        std::mem::forget(held);
    }
}
