//! MCP on stdin and stdout, one JSON-RPC message per line. An unreadable line is answered with an error and skipped.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::Door;
use crate::upkeep_loop::serve_with_vector_upkeep;

/// Longest accepted line: far above the limits of any tool, and little enough to hold in memory.
const LINE_BYTES_MAX: usize = 16 << 20;

// Error codes of JSON-RPC.
pub(super) const PARSE_ERROR: i32 = -32_700;
pub(super) const INVALID_REQUEST: i32 = -32_600;

/// Serves one client on stdin and stdout until it closes them. Every `upkeep_every`, memories without a vector get one:
/// there may be no `serve` process to do it.
pub async fn serve_stdio(door: Door, upkeep_every: Duration) -> Result<(), String> {
    let (entrance, tenant) = (door.entrance.clone(), door.caller.tenant);
    serve_with_vector_upkeep(entrance, tenant, upkeep_every, serve_client(door)).await
}

async fn serve_client(door: Door) -> Result<(), String> {
    let (reader, writer) = rmcp::transport::io::stdio_pipes();
    match door.serve(LineTransport::new(reader, writer)).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        // A client that disconnects before `initialize` is no failure.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

struct LineTransport<R, W> {
    reader: BufReader<R>,
    /// The line read so far. Kept here, because the future that reads it may be dropped and started again.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being skipped.
    skipping: bool,
    writer: Arc<Mutex<Option<W>>>,
}

/// Result of reading one line.
enum LineRead {
    Line,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> LineTransport<R, W> {
    fn new(reader: R, writer: W) -> LineTransport<R, W> {
        let writer = Arc::new(Mutex::new(Some(writer)));
        LineTransport { reader: BufReader::new(reader), line: Vec::new(), skipping: false, writer }
    }

    /// Cancel-safe: bytes are consumed and stored without an await in between.
    async fn read_line(&mut self) -> LineRead {
        loop {
            // A broken pipe ends the session like a closed one.
            let Ok(bytes) = self.reader.fill_buf().await else { return LineRead::End };
            if bytes.is_empty() {
                // The last line may lack its newline.
                return match (std::mem::take(&mut self.skipping), self.line.is_empty()) {
                    (true, _) => LineRead::TooLong,
                    (false, false) => LineRead::Line,
                    (false, true) => LineRead::End,
                };
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let consumed = end.map_or(bytes.len(), |at| at + 1);
            // Bytes beyond the bound are dropped as they come, so that memory stays bounded.
            let fits = self.line.len() + consumed <= LINE_BYTES_MAX;
            if !self.skipping && fits {
                self.line.extend_from_slice(&bytes[..consumed]);
            }
            self.reader.consume(consumed);
            self.skipping |= !fits;
            match end {
                Some(_) if std::mem::take(&mut self.skipping) => return LineRead::TooLong,
                Some(_) => return LineRead::Line,
                None => {}
            }
        }
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer>
    for LineTransport<R, W>
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        // Locked per line: answers of concurrent requests must not mix.
        let writer = Arc::clone(&self.writer);
        async move { write_line(&writer, serde_json::to_vec(&message)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let read = match self.read_line().await {
                LineRead::End => return None,
                LineRead::TooLong => Err(Some(error_reply(INVALID_REQUEST, "the message is too long", &Value::Null))),
                LineRead::Line => parse_message(&self.line),
            };
            self.line.clear();
            match read {
                Ok(message) => return Some(message),
                // A client that cannot be answered is gone, so reading ends too.
                Err(Some(answer)) => write_line(&self.writer, answer.to_string().into_bytes()).await.ok()?,
                Err(None) => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // Dropping the writer closes stdout, which tells the client that the server has ended.
        drop(self.writer.lock().await.take());
        Ok(())
    }
}

async fn write_line<W: AsyncWrite + Unpin>(writer: &Mutex<Option<W>>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    match writer.lock().await.as_mut() {
        Some(writer) => {
            writer.write_all(&line).await?;
            writer.flush().await
        }
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}

/// Parses a line; the error is the reply, if there is one.
fn parse_message(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Option<Value>> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Err(None);
    }
    serde_json::from_slice(line).map_err(|_| reject_unreadable(line))
}

/// The error reply to an unreadable message, which is never quoted; `None` if it wants no reply.
pub(super) fn reject_unreadable(body: &[u8]) -> Option<Value> {
    match serde_json::from_slice::<Value>(body) {
        Err(_) => Some(error_reply(PARSE_ERROR, "this is not JSON", &Value::Null)),
        // JSON-RPC: responses and notifications are never answered, not even invalid ones.
        Ok(value) if value.get("result").is_some() || value.get("error").is_some() => None,
        Ok(value) if value.get("method").is_some_and(Value::is_string) && value.get("id").is_none() => None,
        Ok(value) => {
            // JSON-RPC: an id that cannot be read is answered as null.
            let id = value.get("id").filter(|id| id.is_string() || id.is_number());
            Some(error_reply(INVALID_REQUEST, "this is not a request", id.unwrap_or(&Value::Null)))
        }
    }
}

fn error_reply(code: i32, message: &str, id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_messages_are_answered_by_what_they_are() {
        for (body, code) in [
            ("{\"jsonrpc\":", Some(PARSE_ERROR)),
            ("\u{1}", Some(PARSE_ERROR)),
            ("[]", Some(INVALID_REQUEST)),
            ("7", Some(INVALID_REQUEST)),
            ("{\"id\":1}", Some(INVALID_REQUEST)),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"odd/news\"}", None),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", None),
        ] {
            let answered = reject_unreadable(body.as_bytes()).map(|answer| answer["error"]["code"].clone());
            assert_eq!(answered, code.map(Value::from), "{body}");
        }
        assert_eq!(reject_unreadable(b"{\"id\":\"a\"}").map(|answer| answer["id"].clone()), Some("a".into()));
    }

    #[tokio::test]
    async fn a_line_too_long_is_skipped_and_the_next_is_read() {
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        let input = format!("{long}\nnonsense\n\r\n{ping}\r\n");
        let mut lines = LineTransport::new(input.as_bytes(), Vec::new());
        assert!(lines.receive().await.is_some());
        assert!(lines.receive().await.is_none());
        let written = lines.writer.lock().await.take().unwrap_or_default();
        let codes: Vec<Value> = String::from_utf8_lossy(&written)
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["error"]["code"].clone())
            .collect();
        assert_eq!(codes, [INVALID_REQUEST, PARSE_ERROR]);
    }

    #[tokio::test]
    async fn the_last_line_counts_without_a_newline() {
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        for (input, messages, answers) in [
            (format!("{ping}\n{ping}"), 2, 0),
            (format!("{ping}\n{ping}\n"), 2, 0),
            (format!("{ping}\n{}", &ping[..9]), 1, 1),
            (format!("{ping}\n{long}"), 1, 1),
            (String::new(), 0, 0),
        ] {
            let mut lines = LineTransport::new(input.as_bytes(), Vec::new());
            for _ in 0..messages {
                assert!(lines.receive().await.is_some());
            }
            assert!(lines.receive().await.is_none() && lines.receive().await.is_none());
            let written = lines.writer.lock().await.take().unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(&written).lines().count(), answers);
        }
    }
}
