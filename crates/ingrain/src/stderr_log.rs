//! Non-blocking log writer on stderr for the server. If the reader of stderr stalls, lines are dropped and counted; the
//! count is logged when it reads again.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing_subscriber::fmt::MakeWriter;

/// Lines dropped since the last one written.
static LOST_LINES: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy)]
pub struct LogWriter {
    pub json: bool,
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LogWriter;

    fn make_writer(&'a self) -> LogWriter {
        *self
    }
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The lock covers poll and write, so that no other thread fills the pipe in between.
        let mut stderr = io::stderr().lock();
        if !has_room(&stderr) {
            LOST_LINES.fetch_add(1, Ordering::Relaxed);
            // Reported as written: an error would make the subscriber print to the same stalled stderr.
            return Ok(line.len());
        }
        let lost = LOST_LINES.swap(0, Ordering::Relaxed);
        if lost > 0 {
            stderr.write_all(self.lost_lines_message(lost).as_bytes())?;
        }
        stderr.write_all(line)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // stderr has no buffer.
        Ok(())
    }
}

impl LogWriter {
    fn lost_lines_message(self, lost: u64) -> String {
        let message = format!("{lost} log lines were dropped: the reader of stderr stalled");
        match self.json {
            true => format!("{}\n", serde_json::json!({ "level": "WARN", "fields": { "message": message } })),
            false => format!("WARN {message}\n"),
        }
    }
}

/// Whether a write does not block. A writable pipe has room for at least one page, more than a line.
fn has_room(stderr: &io::StderrLock<'_>) -> bool {
    let mut room = [PollFd::new(stderr, PollFlags::OUT)];
    let at_once = Timespec::default();
    // If polling fails, the line is written anyway.
    poll(&mut room, Some(&at_once)).map_or(true, |ready| ready > 0)
}
