//! Text of PDF files by the external program `pdftotext`. A hostile file can crash only that process.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::error::Failure;
use crate::text_io::INPUT_BYTES_MAX;

/// From Poppler or Xpdf; both accept the arguments used here.
const PROGRAM: &str = "pdftotext";
/// Most pages read of one file.
const PAGES_MAX: &str = "5000";
/// Ends the program on files that are made to take forever.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The text of a PDF.
pub fn extract_text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let wrong = |what: &str| Failure::user_error("ingest.pdf", format!("`{name}` {what}"));
    // An absolute path cannot be mistaken for an option.
    let whole = path.canonicalize().map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let mut command = Command::new(PROGRAM);
    command.args(["-q", "-nopgbrk", "-enc", "UTF-8", "-l", PAGES_MAX]).arg(whole).arg("-");
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(wrong("is a PDF, and `pdftotext` is not installed")
                .with_hint("install it (package `poppler-utils`), or convert the PDF to text first"));
        }
        Err(error) => return Err(wrong(&format!("is a PDF, and `{PROGRAM}` cannot be started: {error}"))),
    };
    let output = read_output(&mut child);
    // Also after a kill, so that no zombie remains.
    let ended = child.wait().is_ok_and(|status| status.success());
    match output {
        None => Err(wrong("takes too long to read or contains too much text")),
        Some(_) if !ended => Err(wrong("cannot be read: it is damaged or encrypted")),
        // Fonts with a broken encoding are common; a few replaced characters are better than no text.
        Some(bytes) => match String::from_utf8_lossy(&bytes).into_owned() {
            text if text.trim().is_empty() => Err(wrong("contains no text, perhaps only scanned images")),
            text => Ok(text),
        },
    }
}

/// Output of the program; `None`, and the program killed, if it is too slow or prints too much.
fn read_output(child: &mut Child) -> Option<Vec<u8>> {
    let stdout = child.stdout.take()?;
    let (sender, receiver) = channel();
    // A pipe has no read timeout in std, so a thread reads and the caller waits on the channel.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
        // The receiver is gone after a timeout.
        let _ = sender.send(read.ok().map(|_| bytes));
    });
    let output =
        receiver.recv_timeout(READ_TIMEOUT).ok().flatten().filter(|bytes| bytes.len() as u64 <= INPUT_BYTES_MAX);
    if output.is_none() {
        // Fails if the program has already ended.
        let _ = child.kill();
    }
    output
}
