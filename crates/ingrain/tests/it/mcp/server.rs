//! `ingrain serve` as a process of its own, and a client that speaks MCP to it over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{World, text};

pub struct Server {
    child: Child,
    address: String,
}

/// An answer over HTTP.
pub struct Reply {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Server {
    pub fn start(world: &World) -> Server {
        Server::start_as(world, "")
    }

    /// With flags that say who its callers are.
    pub fn start_as(world: &World, flags: &str) -> Server {
        Server::start_line(world, &format!("serve --local --port 0 --json {flags}"))
    }

    /// One that wants keys.
    pub fn start_with_keys(world: &World) -> Server {
        Server::start_line(world, "serve --port 0 --json")
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    fn start_line(world: &World, line: &str) -> Server {
        let mut child = world.command(line, &[]).spawn().expect("the binary starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut said = String::new();
        while serde_json::from_str::<Value>(&said).is_err() {
            assert_ne!(stdout.read_line(&mut said).expect("readable"), 0, "it ended: {said}");
        }
        let started: Value = serde_json::from_str(&said).expect("JSON");
        let address = text(&started["address"]).trim_start_matches("http://").to_owned();
        Server { child, address }
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut socket = TcpStream::connect(&self.address).expect("a connection");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        let (address, length) = (&self.address, body.len());
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {length}\r\n");
        head += "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        let sent = socket.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes());
        let mut answer = String::new();
        // A body that is too long may be refused before all of it was taken.
        let read = socket.read_to_string(&mut answer);
        assert!(sent.is_ok() && read.is_ok() || !answer.is_empty(), "{sent:?} {read:?}");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Reply { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// A request of the older era, in a session where one is named.
    pub fn ask(&self, path: &str, session: Option<&str>, method: &str, params: &Value) -> Reply {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let version = ("mcp-protocol-version", "2025-11-25");
        match session {
            Some(session) => self.send("POST", path, &[version, ("mcp-session-id", session)], &body),
            None => self.send("POST", path, &[], &body),
        }
    }

    /// A session of the older era.
    pub fn session(&self, path: &str) -> String {
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "tests", "version": "1" } });
        let reply = self.ask(path, None, "initialize", &hello);
        assert_eq!(reply.message()["result"]["serverInfo"]["name"], "ingrain", "{}", reply.body);
        let session = reply.header("mcp-session-id").expect("a session");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
        assert_eq!(self.send("POST", path, &headers, &ready).status, 202);
        session
    }

    /// A request of the newer era.
    pub fn ask_stateless(&self, path: &str, method: &str, name: &str, mut params: Value) -> Reply {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", name),
            ("x-conversation-id", "c1"),
        ];
        let sent = if name.is_empty() { [headers[0], headers[1], headers[3]].to_vec() } else { headers.to_vec() };
        self.send("POST", path, &sent, &body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<String> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
    }

    /// The answer to the request, as JSON or as an event of a stream.
    pub fn message(&self) -> Value {
        let lines = self.body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.rfind(Value::is_object).unwrap_or_else(|| panic!("no message: {}", self.body))
    }
}
