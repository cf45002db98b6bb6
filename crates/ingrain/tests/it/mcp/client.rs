//! A small client: JSON-RPC by the line, in either era.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::world::{World, text};

/// `ingrain mcp` and our ends of its pipes.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    sent: u64,
    /// What every request carries in the newer era.
    meta: Option<Value>,
    /// What the person says when asked.
    person: Option<bool>,
    /// The folder it names when asked for its roots.
    root: Option<String>,
}

impl Client {
    /// The older era: a handshake first.
    pub fn legacy(world: &World, flags: &str) -> Client {
        Client::start(world, flags).shaken(json!({}))
    }

    /// The older era, with a person who answers.
    pub fn with_person(world: &World, flags: &str, says: bool) -> Client {
        let mut client = Client::start(world, flags).shaken(json!({ "elicitation": {} }));
        client.person = Some(says);
        client
    }

    /// The newer era: no handshake, no session.
    pub fn stateless(world: &World, flags: &str, capabilities: impl Into<Value>) -> Client {
        Client::start(world, flags).without_handshake(capabilities)
    }

    pub fn without_handshake(mut self, capabilities: impl Into<Value>) -> Client {
        let capabilities: Value = capabilities.into();
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        self
    }

    pub fn with_root(mut self, uri: &str) -> Client {
        self.root = Some(uri.to_owned());
        self
    }

    pub fn start(world: &World, flags: &str) -> Client {
        Client::start_command(world.command(&format!("mcp {flags}"), &[]))
    }

    pub fn start_command(mut command: Command) -> Client {
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary starts");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().map(BufReader::new);
        Client { child, stdin, stdout, sent: 0, meta: None, person: None, root: None }
    }

    pub fn shaken(mut self, capabilities: impl Into<Value>) -> Client {
        let capabilities: Value = capabilities.into();
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "Tests", "version": "1" } });
        let answer = self.ask("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        self
    }

    pub fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("open");
        writeln!(stdin, "{line}").and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// The next message: stdout carries nothing but JSON-RPC.
    pub fn next(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.as_mut().expect("open").read_line(&mut line).expect("readable");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// The answer to a request, whatever is said before it.
    pub fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        loop {
            let message = self.next();
            if message["method"] == "elicitation/create" {
                let confirm = self.person.expect("a person to ask");
                let reply = json!({ "action": "accept", "content": { "confirm": confirm } });
                self.line(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": reply }).to_string());
            } else if message["method"] == "roots/list" {
                let roots = json!({ "roots": [{ "uri": self.root.as_ref().expect("a root") }] });
                self.line(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": roots }).to_string());
            } else if message["id"] == id {
                return message;
            }
        }
    }

    /// The result of a tool, error or not.
    pub fn call(&mut self, tool: &str, arguments: impl Into<Value>) -> Value {
        let arguments: Value = arguments.into();
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].is_object(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// What a tool that worked says.
    pub fn tool(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The code of a tool that said no.
    pub fn code(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        text(&result["structuredContent"]["code"])
    }

    /// The sentence a tool of files says.
    pub fn says(&mut self, arguments: Value) -> String {
        text(&self.call("memory", arguments)["content"][0]["text"])
    }

    pub fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({}));
        crate::world::column(&answer["result"]["tools"], "name")
    }

    /// Goes without a word and without reading on, as a killed client does; whether the process ends by itself.
    pub fn vanish(mut self) -> bool {
        drop(self.stdin.take());
        drop(self.stdout.take());
        self.child.wait().is_ok()
    }

    /// Closes stdin; the exit code and what was still said.
    pub fn leave(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(self.stdout.as_mut().expect("open"), &mut rest).expect("readable");
        (self.child.wait().expect("it ends").code(), rest)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed half-way leaves nothing running.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
