//! A server of its own for each test, and a client that sees everything it says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use engine::admin::keys::{IssuedKey, NewKey};
use engine::model::caller::Caller;
use engine::model::id::uuid_v7;
use engine::model::key::KeyRights;
use engine::model::vocabulary::Role;
use engine::ports::{Backend, Clock, Embedder, Tenant};
use engine::{Engine, Settings};
use jiff::Timestamp;
use serde_json::Value;
use server::{App, ServerConfig};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::postgres::Database;

/// 2026-01-01, in microseconds.
const START: i64 = 1_767_225_600_000_000;

/// Goes on by a microsecond at every look, and further when told.
#[derive(Default)]
pub(crate) struct TestClock {
    micros: AtomicI64,
    ids: AtomicU64,
}

impl TestClock {
    pub(crate) fn pass(&self, secs: i64) {
        self.micros.fetch_add(secs * 1_000_000, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let micros = START + self.micros.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_microsecond(micros).expect("in range")
    }

    fn fresh_id(&self) -> Uuid {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let mut random = [0; 10];
        random[2..].copy_from_slice(&id.to_be_bytes());
        uuid_v7(self.now().as_microsecond(), random)
    }
}

pub(crate) struct House {
    pub(crate) engine: Engine,
    /// The engine's own, for tests that write what no verb does.
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) tenant: Tenant,
    pub(crate) address: SocketAddr,
    pub(crate) admin: String,
    close: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    /// Goes when the house does.
    _database: Option<Database>,
    dice: AtomicU64,
}

impl House {
    pub(crate) fn new() -> House {
        House::with(ServerConfig::default())
    }

    /// A server for this machine only, where nobody needs a key.
    pub(crate) fn local() -> House {
        House::start(ServerConfig::default(), true, no_embedder())
    }

    pub(crate) fn with(config: ServerConfig) -> House {
        House::start(config, false, no_embedder())
    }

    pub(crate) fn local_with_embedder(config: ServerConfig, embedder: Arc<dyn Embedder>) -> House {
        House::start(config, true, embedder)
    }

    fn start(config: ServerConfig, local: bool, embedder: Arc<dyn Embedder>) -> House {
        let clock = Arc::new(TestClock::default());
        let database = Database::asked_for();
        let backend = match &database {
            Some(database) => database.open(),
            None => store::open_sqlite(&store::Location::Memory, &store::SqliteOptions::default()).expect("a database"),
        };
        let engine = Engine::new(backend.clone(), embedder, clock.clone(), Settings::default());
        let tenant = engine.start_tenant("default").expect("a tenant");
        let local = local.then(|| Caller::admin(tenant.id));
        let app = App::new(engine.clone(), ServerConfig { local, ..config });
        let (close, closing) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
                tell.send(listener.local_addr().expect("an address")).expect("somebody listens");
                let ending = async {
                    let _ = closing.await;
                };
                server::serve(app, listener, ending).await.expect("a good end");
            });
        });
        let address = told.recv().expect("a server");
        let mut house = House {
            engine,
            backend,
            clock,
            tenant,
            address,
            admin: String::new(),
            close: Some(close),
            thread: Some(thread),
            _database: database,
            dice: AtomicU64::new(1),
        };
        house.admin = house.key(KeyRights { operator: true, ..KeyRights::for_role(Role::Admin) }).text;
        house
    }

    pub(crate) fn key(&self, rights: KeyRights) -> IssuedKey {
        self.key_of(&Caller::admin(self.tenant.id), rights)
    }

    pub(crate) fn key_of(&self, admin: &Caller, rights: KeyRights) -> IssuedKey {
        let mut random = [7; 32];
        random[..8].copy_from_slice(&self.dice.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        // Those who decide have a name; most tests do not care which.
        let named = rights.user.is_some() || rights.role.is_program();
        let user = if named { rights.user.clone() } else { Some("root".to_owned()) };
        let user = user.filter(|_| rights.user.is_some() || rights.role != Role::User);
        let rights = KeyRights { user, ..rights };
        let new = NewKey { name: format!("test {}", rights.role), rights, expires_at: None };
        self.engine.create_key(admin, new, random).expect("a key")
    }

    /// A key of an agent that may say all about itself.
    pub(crate) fn agent(&self, name: &str) -> String {
        let rights = KeyRights {
            agent: Some(name.to_owned()),
            may_set: engine::model::key::Settable::ALL.to_vec(),
            ..KeyRights::for_role(Role::Agent)
        };
        self.key(rights).text
    }

    pub(crate) fn ask(&self, method: &str, path: &str) -> Ask {
        Ask::new(self.address, method, path).header("authorization", &format!("Bearer {}", self.admin))
    }

    pub(crate) fn ask_as(&self, key: &str, method: &str, path: &str) -> Ask {
        Ask::new(self.address, method, path).header("authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn stranger(&self, method: &str, path: &str) -> Ask {
        Ask::new(self.address, method, path)
    }

    pub(crate) fn close(&mut self) {
        if let Some(close) = self.close.take() {
            let _ = close.send(());
        }
        if let Some(thread) = self.thread.take() {
            thread.join().expect("a good end");
        }
    }
}

fn no_embedder() -> Arc<dyn Embedder> {
    embed::open_embedder(&embed::EmbedConfig::Off).expect("no embedder")
}

impl Drop for House {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.close();
        }
    }
}

/// A request, written by hand so that a test can send what no library would.
pub(crate) struct Ask {
    address: SocketAddr,
    head: String,
    body: String,
    host: String,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Ask {
    fn new(address: SocketAddr, method: &str, path: &str) -> Ask {
        Ask { address, head: format!("{method} {path} HTTP/1.1\r\n"), body: String::new(), host: address.to_string() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Ask {
        self.head.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    pub(crate) fn host(mut self, host: &str) -> Ask {
        self.host = host.to_owned();
        self
    }

    pub(crate) fn json(self, body: &Value) -> Ask {
        self.text(&body.to_string()).header("content-type", "application/json")
    }

    pub(crate) fn text(mut self, body: &str) -> Ask {
        self.body = body.to_owned();
        self
    }

    fn open(self) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).expect("a connection");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
        let length = self.body.len();
        let head = format!("{}host: {}\r\ncontent-length: {length}\r\n", self.head, self.host);
        socket.write_all(format!("{head}connection: close\r\n\r\n{}", self.body).as_bytes()).expect("sent");
        socket
    }

    /// Sends it and hangs up.
    pub(crate) fn leave(self) {
        drop(self.open());
    }

    /// The status of an answer whose body is no plain text, read to its end.
    pub(crate) fn status(self) -> u16 {
        let mut bytes = Vec::new();
        self.open().read_to_end(&mut bytes).expect("an answer");
        assert!(bytes.ends_with(b"0\r\n\r\n"), "the answer is whole");
        let head = String::from_utf8_lossy(&bytes[..12]).into_owned();
        head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status")
    }

    pub(crate) fn send(self) -> Reply {
        let mut text = Vec::new();
        self.open().read_to_end(&mut text).expect("an answer");
        let text = String::from_utf8(text).expect("plain text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_lowercase(), value.trim().to_owned()))
        };
        let headers: Vec<_> = lines.filter_map(header).collect();
        let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if chunked { unchunked(body) } else { body.to_owned() };
        Reply { status: status.expect("a status"), headers, body }
    }

    /// Opens a stream of events.
    pub(crate) fn stream(self) -> Stream {
        let mut reader = BufReader::new(self.header("accept", "text/event-stream").open());
        let mut status = String::new();
        reader.read_line(&mut status).expect("a status");
        assert!(status.contains(" 200 "), "{status}");
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a header");
            if line == "\r\n" {
                return Stream { reader };
            }
        }
    }
}

fn unchunked(body: &str) -> String {
    let mut rest = body;
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).expect("a chunk size");
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
        if size == 0 {
            break;
        }
    }
    whole
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {} {}", self.status, self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Status and code: what tests of refusals compare.
    pub(crate) fn said(&self) -> (u16, String) {
        let code = serde_json::from_str::<Value>(&self.body).ok().and_then(|v| Some(v["code"].as_str()?.to_owned()));
        (self.status, code.unwrap_or_default())
    }
}

/// An open stream of events, chunk framing taken off by skipping its lines.
pub(crate) struct Stream {
    reader: BufReader<TcpStream>,
}

/// One event as the client gets it.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Stream {
    /// The next event; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Shown> {
        let (mut id, mut name, mut data) = (0, String::new(), None);
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.parse().expect("a number");
            } else if let Some(text) = line.strip_prefix("event: ") {
                name = text.to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(text).expect("JSON"));
            } else if line.is_empty() && data.is_some() {
                return Some(Shown { id, name, data: data.take().unwrap_or_default() });
            }
        }
    }

    /// Reads up to the first line that begins so.
    pub(crate) fn until(&mut self, start: &str) {
        loop {
            let mut line = String::new();
            assert_ne!(self.reader.read_line(&mut line).expect("a line"), 0, "the stream ended before `{start}`");
            if line.starts_with(start) {
                return;
            }
        }
    }
}
