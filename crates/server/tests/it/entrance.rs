//! One bounded way into the engine: `/mcp` waits, is refused, times out and is counted as REST is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::model::caller::Caller;
use engine::ports::{Calibration, EmbedError, Embedder};
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use server::mcp::{Door, DoorSetup};
use server::{HttpLimits, ServerConfig};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::house::{Ask, House, Reply};

/// Requests until the first round of upkeep must be over.
const ATTEMPTS_MAX: usize = 10_000;
/// Longest a search is held.
const HOLD_MAX: Duration = Duration::from_secs(15);

/// Embeds every text but one: a search for `hold` stays inside the engine until the test lets it go.
struct HoldingEmbedder {
    entered: Mutex<Sender<()>>,
    release: Mutex<Receiver<()>>,
    /// Another search was embedded while one was held.
    overtaken: Arc<AtomicBool>,
    holding: AtomicBool,
}

impl Embedder for HoldingEmbedder {
    fn model(&self) -> &str {
        "holding"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.contains(&"hold") {
            self.holding.store(true, Ordering::SeqCst);
            self.entered.lock().unwrap_or_else(PoisonError::into_inner).send(()).expect("the test waits");
            // Bounded, so that a test that fails while it holds the call ends.
            let _ = self.release.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(HOLD_MAX);
            self.holding.store(false, Ordering::SeqCst);
        } else if self.holding.load(Ordering::SeqCst) {
            self.overtaken.store(true, Ordering::SeqCst);
        }
        Ok(texts.iter().map(|_| vec![1.0, 0.0]).collect())
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn calibration(&self) -> Calibration {
        Calibration { unrelated: 0.0, same: 1.0 }
    }
}

/// A local server with room for one call, and the means to fill that room. Local, because checking a key is an engine
/// call as well.
struct OneCall {
    house: House,
    entered: Mutex<Receiver<()>>,
    release: Sender<()>,
    overtaken: Arc<AtomicBool>,
}

impl OneCall {
    fn new(limits: &HttpLimits) -> OneCall {
        let (enter, entered) = channel();
        let (release, released) = channel();
        let overtaken = Arc::new(AtomicBool::new(false));
        let embedder = HoldingEmbedder {
            entered: Mutex::new(enter),
            release: Mutex::new(released),
            overtaken: overtaken.clone(),
            holding: AtomicBool::new(false),
        };
        let config = ServerConfig { limits: HttpLimits { calls_max: 1, ..limits.clone() }, ..ServerConfig::default() };
        let house = House::local_with_embedder(config, Arc::new(embedder));
        // The first round of upkeep is an engine call too, and must be over before the test fills the only place.
        let upkeep_done = || {
            let page = house.stranger("GET", "/metrics").send();
            page.status == 200 && page.body.contains("ingrain_verb_seconds_count{verb=\"upkeep\"} 1")
        };
        assert!((0..ATTEMPTS_MAX).any(|_| upkeep_done()), "the first round of upkeep ends");
        OneCall { house, entered: Mutex::new(entered), release, overtaken }
    }

    fn search(&self, text: &str) -> Reply {
        self.house.stranger("POST", "/v1/search").json(&json!({ "query": text })).send()
    }

    fn tool(&self, name: &str, arguments: &Value) -> Value {
        self.mcp("tools/call", name, json!({ "name": name, "arguments": arguments }))
    }

    /// A request of the stateless protocol.
    fn mcp(&self, method: &str, name: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let ask = self.post_mcp().header("mcp-protocol-version", "2026-07-28").header("mcp-method", method);
        let ask = if name.is_empty() { ask } else { ask.header("mcp-name", name) };
        message(&ask.json(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).send())
    }

    fn post_mcp(&self) -> Ask {
        self.house.stranger("POST", "/mcp").header("accept", "application/json, text/event-stream")
    }

    /// Opens a session of the older protocol, whose answers begin before the call ends.
    fn session(&self) -> String {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let session = self.post_mcp().json(&hello).send().header("mcp-session-id").expect("a session").to_owned();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post_mcp().header("mcp-session-id", &session).json(&ready).send();
        session
    }

    fn wait_until_held(&self) {
        let entered = self.entered.lock().unwrap_or_else(PoisonError::into_inner);
        entered.recv_timeout(HOLD_MAX).expect("the search is inside the engine");
    }

    /// Runs `during` while the only call is taken.
    fn while_held(&self, during: impl FnOnce()) {
        std::thread::scope(|scope| {
            let held = scope.spawn(|| self.search("hold"));
            self.wait_until_held();
            during();
            self.release.send(()).expect("the search waits");
            assert_eq!(held.join().expect("an answer").status, 200);
        });
    }
}

/// The JSON-RPC message of a reply: a plain JSON document, or the last event of a stream.
fn message(reply: &Reply) -> Value {
    let event = reply.body.lines().rfind(|line| line.starts_with("data: {")).map(|line| &line["data: ".len()..]);
    serde_json::from_str(event.unwrap_or(&reply.body)).unwrap_or_else(|_| panic!("{} {}", reply.status, reply.body))
}

fn code(message: &Value) -> &Value {
    &message["result"]["structuredContent"]["code"]
}

#[test]
fn a_tool_call_waits_for_its_turn_and_the_next_is_refused() {
    let one = OneCall::new(&HttpLimits { waiting_max: 1, ..HttpLimits::default() });
    let find = json!({ "query": "quick" });
    let (answer, answers) = channel();
    std::thread::scope(|scope| {
        one.while_held(|| {
            for _ in 0..2 {
                let answer = answer.clone();
                scope.spawn(|| {
                    let answer = answer;
                    answer.send(one.tool("memory_search", &find)).expect("the test waits");
                });
            }
            // One of the two calls takes the only place in the queue; the other is refused at once.
            let refused = answers.recv().expect("an answer");
            assert_eq!(
                (code(&refused), &refused["result"]["isError"]),
                (&json!("http.busy"), &json!(true)),
                "{refused}"
            );
            assert_eq!(refused["result"]["structuredContent"]["retry_after_secs"], 1, "{refused}");
            assert_eq!(one.search("quick").said(), (503, "http.busy".to_owned()), "REST says the same");
            let listed = one.mcp("resources/list", "", json!({}));
            assert_eq!(listed["error"]["data"]["code"], "http.busy", "{listed}");
            assert_eq!(listed["error"]["data"]["retry_after_secs"], 1, "{listed}");
            assert!(answers.try_recv().is_err(), "the other call waits");
        });
        let found = answers.recv().expect("an answer");
        assert!(found["result"]["structuredContent"]["results"].is_array(), "{found}");
    });
    assert!(!one.overtaken.load(Ordering::SeqCst), "nothing ran beside the only call");
}

#[test]
fn a_tool_call_that_waits_too_long_is_told_so() {
    let one = OneCall::new(&HttpLimits { timeout_secs: 1, ..HttpLimits::default() });
    let session = one.session();
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "memory_search", "arguments": { "query": "quick" } } });
    std::thread::scope(|scope| {
        // The search that is held times out as well; the engine goes on with it until it is let go.
        let search = scope.spawn(|| one.search("hold").said());
        one.wait_until_held();
        let late = message(&one.post_mcp().header("mcp-session-id", &session).json(&call).send());
        assert_eq!(code(&late), "http.timeout", "{late}");
        assert_eq!(search.join().expect("an answer"), (504, "http.timeout".to_owned()));
        one.release.send(()).expect("the search waits");
    });
    assert!(!one.overtaken.load(Ordering::SeqCst), "a call that gave up waiting is not run");
}

#[test]
fn saves_by_tool_go_on_while_the_reads_are_full() {
    let one = OneCall::new(&HttpLimits::default());
    let note = json!({
        "target_store_slug": "workspace_runbooks", "path": "cranes", "document_type": "runbook",
        "content": "the crane is green", "evidence_summary": "said so",
    });
    one.while_held(|| {
        let saved = one.tool("memory_remember", &note);
        assert_eq!(saved["result"]["structuredContent"]["created"], true, "{saved}");
    });
}

#[test]
fn tool_calls_are_counted_by_name() {
    let one = OneCall::new(&HttpLimits::default());
    one.tool("memory_search", &json!({ "query": "quick" }));
    one.tool("no_such_tool", &json!({}));
    one.mcp("resources/list", "", json!({}));
    let page = one.house.stranger("GET", "/metrics").send().body;
    for verb in ["memory_search", "mcp_unknown_tool", "mcp_list_resources"] {
        let line = format!("ingrain_verb_seconds_count{{verb=\"{verb}\"}} 1");
        assert!(page.contains(&line), "{line} in\n{page}");
    }
}

/// A door with one client, as `serve_stdio` has, on a pipe of this process.
#[test]
fn a_client_on_a_pipe_is_bounded_by_the_same_limits() {
    // Made and dropped outside the runtime: a database on Postgres is set up by a runtime of its own.
    let one = OneCall::new(&HttpLimits::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(check_client_on_a_pipe(&one));
}

async fn check_client_on_a_pipe(one: &OneCall) {
    let limits = HttpLimits { calls_max: 1, waiting_max: 1, ..HttpLimits::default() };
    let admin = Caller::admin(one.house.tenant.id);
    let door = Door::new(one.house.engine.clone(), admin, DoorSetup::default()).with_limits(&limits);
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, mut write) = tokio::io::split(near);
    let serving = tokio::spawn(async move { door.serve(far).await.expect("a client").waiting().await });
    let mut lines = BufReader::new(read).lines();
    let send = |id: u64, method: &str, params: Value| {
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    };
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    write.write_all(send(1, "initialize", hello).as_bytes()).await.expect("sent");
    lines.next_line().await.expect("an answer");
    write.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await.expect("sent");
    let hold = json!({ "name": "memory_search", "arguments": { "query": "hold" } });
    write.write_all(send(2, "tools/call", hold).as_bytes()).await.expect("sent");
    tokio::task::block_in_place(|| one.wait_until_held());
    for id in [3, 4] {
        write.write_all(send(id, "resources/list", json!({})).as_bytes()).await.expect("sent");
    }
    let mut next = async || -> Value {
        let line = lines.next_line().await.expect("an answer").expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    };
    let refused = next().await;
    assert_eq!(refused["error"]["data"]["code"], "http.busy", "{refused}");
    one.release.send(()).expect("the search waits");
    let answered = [next().await, next().await].map(|message| message["result"].is_object());
    assert_eq!(answered, [true, true], "the search, and the list that waited for it");
    serving.abort();
}

#[test]
fn readiness_is_answered_within_two_seconds_although_the_engine_hangs() {
    let one = OneCall::new(&HttpLimits::default());
    one.while_held(|| {
        for _ in 0..2 {
            let asked = std::time::Instant::now();
            let said = one.house.stranger("GET", "/readyz").send().said();
            assert_eq!(said, (503, "store.unavailable".to_owned()));
            assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
        }
    });
    assert_eq!(one.house.stranger("GET", "/readyz").send().status, 200);
}
