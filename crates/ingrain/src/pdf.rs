//! PDFs, by the machine's own `pdftotext`: what may be hostile is read by a program of its own, which may break on it.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::error::Failure;
use crate::text_io::INPUT_BYTES_MAX;

/// Of Poppler or Xpdf; both take these words.
const PROGRAM: &str = "pdftotext";
/// Pages read of one file: a shelf of manuals, not a library.
const PAGES_MAX: &str = "5000";
/// A document is read in seconds; one made to be read for ever is not.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The text of a PDF.
pub fn extract_text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let wrong = |what: &str| Failure::user_error("ingest.pdf", format!("`{name}` {what}"));
    // A whole path begins with a slash and is never taken for an option.
    let whole = path.canonicalize().map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let mut command = Command::new(PROGRAM);
    command.args(["-q", "-nopgbrk", "-enc", "UTF-8", "-l", PAGES_MAX]).arg(whole).arg("-");
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(wrong("is a PDF, and `pdftotext` is not here to read it")
                .with_hint("install it (package `poppler-utils`), or turn the PDF into text elsewhere"));
        }
        Err(error) => return Err(wrong(&format!("is a PDF, and `{PROGRAM}` does not start: {error}"))),
    };
    let output = read_output(&mut child);
    let ended = child.wait().is_ok_and(|status| status.success());
    match output {
        None => Err(wrong("takes too long to read, or holds too much")),
        Some(_) if !ended => Err(wrong("cannot be read: it is damaged or locked")),
        Some(bytes) => match String::from_utf8_lossy(&bytes).into_owned() {
            text if text.trim().is_empty() => Err(wrong("holds no text: only pictures of it, perhaps")),
            text => Ok(text),
        },
    }
}

/// What the program says, within bounds; beyond them it is stopped.
fn read_output(child: &mut Child) -> Option<Vec<u8>> {
    let stdout = child.stdout.take()?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
        // Nobody waits any more where it took too long.
        let _ = sender.send(read.ok().map(|_| bytes));
    });
    let output =
        receiver.recv_timeout(READ_TIMEOUT).ok().flatten().filter(|bytes| bytes.len() as u64 <= INPUT_BYTES_MAX);
    if output.is_none() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    output
}
