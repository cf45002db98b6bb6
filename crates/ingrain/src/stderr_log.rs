//! Where a server's log goes: to stderr, as long as somebody takes it. A reader that stands still shall not stop the
//! server, so lines it has no room for are counted instead, and told of once it reads again.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tracing_subscriber::fmt::MakeWriter;

/// Lines that nobody took since the last that somebody did.
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
        // One after the other, so that the room one of them saw is still there when it writes.
        let mut stderr = io::stderr().lock();
        if !has_room(&stderr) {
            LOST_LINES.fetch_add(1, Ordering::Relaxed);
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
        Ok(())
    }
}

impl LogWriter {
    fn lost_lines_message(self, lost: u64) -> String {
        let message = format!("{lost} lines of this log were lost, as nobody read it");
        match self.json {
            true => format!("{}\n", serde_json::json!({ "level": "WARN", "fields": { "message": message } })),
            false => format!("WARN {message}\n"),
        }
    }
}

/// Whether there is room for a line: a pipe that says so takes at least a page.
fn has_room(stderr: &io::StderrLock<'_>) -> bool {
    let mut room = [PollFd::new(stderr, PollFlags::OUT)];
    let at_once = Timespec::default();
    // Where that cannot be told, the line is written.
    poll(&mut room, Some(&at_once)).map_or(true, |ready| ready > 0)
}
