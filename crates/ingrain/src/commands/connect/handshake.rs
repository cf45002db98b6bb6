//! A real MCP handshake with a configured server, in both eras of the protocol: does it answer, and with which tools?

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::http::Response;
use ureq::{Agent, Body};

/// Longest that one handshake may take. A client gives up after some 30 seconds; a server that answers needs one.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes that are read of an answer.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Version of the protocol that begins with `initialize`.
const SESSION_VERSION: &str = "2025-11-25";
/// Version of the protocol without sessions.
const STATELESS_VERSION: &str = "2026-07-28";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Era {
    Session,
    Stateless,
}

/// Number of tools that the server offers, the same in both eras. The error says what went wrong.
pub fn shake_command(program: &str, arguments: &[String], folder: Option<&Path>) -> Result<usize, String> {
    both_eras(|era| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        folder.into_iter().for_each(|folder| _ = command.current_dir(folder));
        let child = command.spawn().map_err(|error| format!("`{program}` does not start: {error}"))?;
        let mut process = Process::new(child)?;
        let counted = process.count_tools(era);
        process.end(counted.is_ok());
        counted
    })
}

/// As [`shake_command`], over HTTP.
pub fn shake_url(url: &str, key: Option<&str>) -> Result<usize, String> {
    both_eras(|era| HttpServer::new(url, key).count_tools(era))
}

fn both_eras(count: impl Fn(Era) -> Result<usize, String>) -> Result<usize, String> {
    let session = count(Era::Session).map_err(|why| format!("protocol {SESSION_VERSION}: {why}"))?;
    let stateless = count(Era::Stateless).map_err(|why| format!("protocol {STATELESS_VERSION}: {why}"))?;
    match session == stateless {
        true => Ok(session),
        false => Err(format!("{session} tools by protocol {SESSION_VERSION}, {stateless} by {STATELESS_VERSION}")),
    }
}

fn client_info() -> Value {
    json!({ "name": "ingrain-doctor", "version": env!("CARGO_PKG_VERSION") })
}

fn initialize() -> Value {
    let params = json!({ "protocolVersion": SESSION_VERSION, "capabilities": {}, "clientInfo": client_info() });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn list_tools(era: Era) -> Value {
    let params = match era {
        Era::Session => json!({}),
        Era::Stateless => json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
            "io.modelcontextprotocol/clientInfo": client_info(),
            "io.modelcontextprotocol/clientCapabilities": {},
        } }),
    };
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params })
}

/// The number of tools in an answer to `tools/list`.
fn read_tools(answer: &Value) -> Result<usize, String> {
    match answer.pointer("/result/tools").and_then(Value::as_array) {
        Some(tools) if !tools.is_empty() => Ok(tools.len()),
        Some(_) => Err("it offers no tools".to_owned()),
        None => Err(describe_error(answer)),
    }
}

fn describe_error(answer: &Value) -> String {
    let message = answer.pointer("/error/message").and_then(Value::as_str);
    message.map_or("its answer is not MCP".to_owned(), |message| format!("it answered: {message}"))
}

/// A server on stdin and stdout, one message per line.
struct Process {
    child: Child,
    lines: Receiver<String>,
    deadline: Instant,
}

impl Process {
    fn new(mut child: Child) -> Result<Process, String> {
        let stdout = child.stdout.take().ok_or("it has no stdout")?;
        let (sender, lines) = mpsc::channel();
        // A thread, because a pipe cannot be read with a time limit. It ends with the process.
        std::thread::spawn(move || {
            let lines = BufReader::new(stdout.take(ANSWER_BYTES_MAX)).lines();
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Process { child, lines, deadline: Instant::now() + HANDSHAKE_TIMEOUT })
    }

    fn count_tools(&mut self, era: Era) -> Result<usize, String> {
        if era == Era::Session {
            self.send(&initialize())?;
            let answer = self.receive(1)?;
            if !answer["result"]["protocolVersion"].is_string() {
                return Err(describe_error(&answer));
            }
            self.send(&initialized())?;
        }
        self.send(&list_tools(era))?;
        read_tools(&self.receive(2)?)
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let stdin = self.child.stdin.as_mut().ok_or("it has no stdin")?;
        let sent = writeln!(stdin, "{message}").and_then(|()| stdin.flush());
        sent.map_err(|_| "it ended without an answer".to_owned())
    }

    /// The answer to a request; notifications before it are skipped.
    fn receive(&mut self, id: u64) -> Result<Value, String> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|error| match error {
                mpsc::RecvTimeoutError::Timeout => format!("no answer in {} s", HANDSHAKE_TIMEOUT.as_secs()),
                mpsc::RecvTimeoutError::Disconnected => "it ended without an answer".to_owned(),
            })?;
            let message: Value = serde_json::from_str(&line).map_err(|_| "its stdout carries other text than MCP")?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    /// Ends the process: it may finish by itself if it behaved.
    fn end(mut self, behaved: bool) {
        drop(self.child.stdin.take());
        let left = self.deadline.saturating_duration_since(Instant::now());
        // The channel closes when the process closes its stdout.
        let closed = || matches!(self.lines.recv_timeout(left), Err(mpsc::RecvTimeoutError::Disconnected));
        if !behaved || !closed() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// A server over streamable HTTP.
struct HttpServer<'a> {
    agent: Agent,
    url: &'a str,
    key: Option<&'a str>,
}

impl<'a> HttpServer<'a> {
    fn new(url: &'a str, key: Option<&'a str>) -> HttpServer<'a> {
        // No redirects: the key is for this address only.
        let config = Agent::config_builder().timeout_global(Some(HANDSHAKE_TIMEOUT)).max_redirects(0);
        HttpServer { agent: config.http_status_as_error(false).build().into(), url, key }
    }

    fn count_tools(&self, era: Era) -> Result<usize, String> {
        if era == Era::Stateless {
            let headers = [("mcp-protocol-version", STATELESS_VERSION), ("mcp-method", "tools/list")];
            return read_tools(&read_message(self.post(&list_tools(era), &headers)?)?);
        }
        let opened = self.post(&initialize(), &[])?;
        let session = opened.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let answer = read_message(opened)?;
        if !answer["result"]["protocolVersion"].is_string() {
            return Err(describe_error(&answer));
        }
        let mut headers = vec![("mcp-protocol-version", SESSION_VERSION)];
        headers.extend(session.as_deref().map(|session| ("mcp-session-id", session)));
        self.post(&initialized(), &headers)?;
        let counted = read_tools(&read_message(self.post(&list_tools(era), &headers)?)?);
        if let Some(session) = &session {
            // The server drops idle sessions too.
            let request = self.agent.delete(self.url).header("mcp-session-id", session);
            let _ = self.with_key(request).call();
        }
        counted
    }

    fn post(&self, message: &Value, headers: &[(&str, &str)]) -> Result<Response<Body>, String> {
        let request = self.agent.post(self.url).header("accept", "application/json, text/event-stream");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = self.with_key(request).header("content-type", "application/json");
        let answer = request.send(message.to_string()).map_err(|error| format!("it cannot be reached: {error}"))?;
        match answer.status().as_u16() {
            200..=299 => Ok(answer),
            401 | 403 => Err(match self.key {
                Some(_) => "it refused the key".to_owned(),
                None => "it wants a key".to_owned(),
            }),
            status => Err(format!("it answered with status {status}")),
        }
    }

    fn with_key<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        }
    }
}

/// The JSON-RPC message of an answer, as JSON or as an event of a stream.
fn read_message(mut answer: Response<Body>) -> Result<Value, String> {
    let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_string();
    let text = text.map_err(|error| format!("its answer cannot be read: {error}"))?;
    let lines = text.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.rfind(Value::is_object).ok_or_else(|| "its answer is not MCP".to_owned())
}
