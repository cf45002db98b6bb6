//! The server over real sockets: what it promised when it dies; on Postgres prepared by the owner, served by the
//! application, honest when it is full.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::postgres::{APP, Database, OWNER, Session, server};
use crate::world::{World, rows, text};

/// A server that ends with the test.
pub struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    pub fn start(world: &World) -> Serving {
        Serving::start_with(world, &[])
    }

    fn start_with(world: &World, settings: &[(&str, &str)]) -> Serving {
        let mut command = world.command("serve --json --local --port 0", &[]);
        command.envs(settings.iter().copied());
        Serving::start_by(command)
    }

    fn start_by(mut command: Command) -> Serving {
        let mut child = command.spawn().expect("the binary starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let started: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("started: {line}"));
        let address = text(&started["address"]).trim_start_matches("http://").to_owned();
        Serving { child, address }
    }

    /// Status, head and body of one request.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String, String) {
        self.answer(method, path, "", body).expect("an answer")
    }

    /// As [`Serving::ask`], under an idempotency key. Nothing where the server goes away.
    fn tell_once(&self, key: &str, path: &str, body: &str) -> Option<(u16, String, String)> {
        self.answer("POST", path, &format!("idempotency-key: {key}\r\n"), body)
    }

    /// Ends the server in good order; returns what it logged.
    pub fn end(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
        let mut log = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut log).expect("text");
        log
    }

    pub fn answer(&self, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, String, String)> {
        let mut line = TcpStream::connect(&self.address).ok()?;
        let (length, address) = (body.len(), &self.address);
        write!(
            line,
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .ok()?;
        let mut answer = String::new();
        line.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok())?;
        Some((status, head.to_lowercase(), body.to_owned()))
    }

    /// As a power cut does.
    fn kill(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-9", &id]).status().expect("kill runs").success());
    }

    pub fn save(&self, path: &str) -> (u16, String, String) {
        let body =
            format!(r#"{{"store":"workspace_runbooks","path":"{path}","content":"said at {path}","kind":"runbook"}}"#);
        self.ask("POST", "/v1/memories", &body)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bounds the size of files that a running process may write.
fn bound_file_size(serving: &Serving, bytes: &str) {
    let (id, size) = (serving.child.id().to_string(), format!("--fsize={bytes}:"));
    assert!(Command::new("prlimit").args(["--pid", &id, &size]).status().expect("it runs").success());
}

#[test]
fn readiness_notices_that_the_disk_is_full_and_that_it_has_room_again() {
    let world = World::on_file();
    let binary = world.command("serve --json --local --port 0", &[]);
    // Writes beyond the bound fail as on a full disk, once the signal that would end the process is ignored.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", r#"trap '' XFSZ; exec "$0" "$@""#]).arg(binary.get_program()).args(binary.get_args());
    command.env_clear().envs(binary.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let serving = Serving::start_by(command);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let wait_for = |expected: u16| loop {
        let asked = std::time::Instant::now();
        let (status, _, body) = serving.ask("GET", "/readyz", "");
        assert!(asked.elapsed() < std::time::Duration::from_secs(2), "{:?}", asked.elapsed());
        match status == expected {
            true => break body,
            false => assert!(std::time::Instant::now() < deadline, "{status} {body}"),
        }
    };
    wait_for(200);
    assert_eq!(serving.save("a").0, 201);
    bound_file_size(&serving, "1024");
    let full = wait_for(503);
    assert!(full.contains("store.unwritable"), "{full}");
    assert_eq!(serving.save("b").0, 503);
    assert_eq!(serving.ask("GET", "/v1/memories", "").0, 200, "what is there can be read");
    bound_file_size(&serving, "unlimited");
    wait_for(200);
    assert_eq!(serving.save("c").0, 201);
}

#[test]
fn a_secret_in_what_an_mcp_client_says_of_itself_is_not_in_the_log() {
    let world = World::on_file();
    let serving = Serving::start_with(&world, &[("INGRAIN_SERVER_LOG_LEVEL", "debug")]);
    let secret = ["gh", "p_R4nd0mLyDr4wnCh4r4ct3rsF0rTh1sT3st99"].concat();
    let accept = "accept: application/json, text/event-stream\r\n";
    for version in ["2025-06-18", &format!("1999-{secret}")] {
        let hello = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": { "experimental": { &secret: {} } },
            "clientInfo": { "name": secret, "version": secret, "title": secret } } });
        let (_, head, _) = serving.answer("POST", "/mcp", accept, &hello.to_string()).expect("an answer");
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap_or_default();
        let headers = format!("{accept}mcp-session-id: {session}\r\n");
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        serving.answer("POST", "/mcp", &headers, ready);
        let odd = format!(r#"{{"jsonrpc":"2.0","id":"{secret}","method":"{secret}","params":{{"{secret}":1}}}}"#);
        serving.answer("POST", "/mcp", &headers, &odd);
    }
    let log = serving.end();
    assert!(log.contains("/mcp"), "calls are logged: {log}");
    assert!(!log.contains("R4nd0mLyDr4wn"), "{log}");
}

/// Codes of the warnings that a server gives at its start.
fn start_warnings(world: &World, line: &str, more: &[&str]) -> Vec<String> {
    let mut child = world.command(line, more).env("INGRAIN_SERVER_LOG", "json").spawn().expect("the binary starts");
    let mut started = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut started).expect("a line");
    child.kill().expect("ends");
    let mut log = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut log).expect("text");
    child.wait().expect("ends");
    let entries = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let warnings = entries.filter(|entry| entry["level"] == "WARN");
    warnings.filter_map(|entry| entry["fields"]["code"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_server_that_others_can_reach_without_tls_says_so_loudly() {
    let world = World::on_file();
    let warned = start_warnings(&world, "serve --json --host 0.0.0.0 --port 0", &[]);
    assert_eq!(warned, ["risk.plaintext_server"]);
    assert!(start_warnings(&world, "serve --json --port 0", &[]).is_empty());
    let world = world.configured("[server]\nhost = \"0.0.0.0\"\n");
    let report = world.json("doctor", &[]);
    let check = rows(&report["checks"]).iter().find(|check| check["name"] == "risk.plaintext_server").cloned();
    assert_eq!(check.expect("a check")["verdict"], "warning", "{report}");
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_superuser_and_a_password_on_the_command_line_are_told_loudly() {
    let database = Database::fresh(&server());
    let superuser = database.url("postgres").replace("postgres://postgres@", "postgres://postgres:geheim@");
    let world = World::on_server(database);
    let line = "serve --json --local --port 0 --db";
    assert_eq!(start_warnings(&world, line, &[&superuser]), ["risk.superuser", "risk.password_in_arguments"]);
    let report = world.json("doctor --db", &[&superuser]).to_string();
    assert!(report.contains("risk.superuser") && report.contains("risk.password_in_arguments"), "{report}");
    assert!(!report.contains("geheim"), "{report}");
    let report = world.json("doctor", &[]).to_string();
    assert!(!report.contains("risk."), "the application's role: {report}");
}

/// Some calls are cut off before they wrote, some after it and before they answered, some are answered.
#[test]
fn an_idempotency_key_has_one_effect_although_the_server_is_killed() {
    let world = World::new();
    let serving = Serving::start(world.at("2026-01-01T00:00:00Z"));
    let calls: Vec<(String, String)> = (0..64)
        .map(|number| (format!("k{number}"), format!(r#"{{"action":"deploy","message":"release {number} ended"}}"#)))
        .collect();
    let (tell, answered) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for (key, body) in &calls {
            let (tell, serving) = (tell.clone(), &serving);
            scope.spawn(move || serving.tell_once(key, "/v1/audit", body).map(|answer| tell.send(answer.0)));
        }
        assert_eq!(answered.recv(), Ok(201));
        serving.kill();
    });
    drop(serving);
    // Later than a call under way may take.
    let serving = Serving::start(world.at("2026-01-01T00:05:00Z"));
    for (key, body) in &calls {
        let (status, _, said) = serving.tell_once(key, "/v1/audit", body).expect("an answer");
        assert!(status == 201 || (status == 409 && said.contains("idempotency.answer_lost")), "{status} {said}");
    }
    let (_, _, log) = serving.ask("GET", "/v1/audit?limit=100", "");
    let log: serde_json::Value = serde_json::from_str(&log).expect("a page");
    let mut messages: Vec<String> = rows(&log["items"]).iter().map(|entry| text(&entry["text"])).collect();
    messages.sort();
    let mut expected: Vec<String> = (0..64).map(|number| format!("release {number} ended")).collect();
    expected.sort();
    assert_eq!(messages, expected, "each of them once");
}

#[test]
fn verify_finds_the_log_intact_while_it_grows() {
    let world = World::new();
    let serving = Serving::start(&world);
    std::thread::scope(|scope| {
        let saving = scope.spawn(|| (0..100).for_each(|number| drop(serving.save(&format!("n/{number}")))));
        while !saving.is_finished() {
            assert!(world.json("verify", &[])["broken"].is_null());
        }
    });
}

#[test]
fn a_client_that_closes_its_sending_side_is_still_answered() {
    let world = World::new();
    let serving = Serving::start(&world);
    for _ in 0..20 {
        let mut line = TcpStream::connect(&serving.address).expect("a line");
        write!(line, "GET /readyz HTTP/1.1\r\nhost: {}\r\n\r\n", serving.address).expect("sent");
        line.shutdown(std::net::Shutdown::Write).expect("half closed");
        let mut answer = String::new();
        line.read_to_string(&mut answer).expect("read");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
    }
}

#[test]
fn a_returned_receipt_is_on_disk_although_the_server_is_killed() {
    let world = World::on_file();
    world.json("remember --store workspace_runbooks --kind runbook --path a", &["drain the gateway first"]);
    for _ in 0..3 {
        let serving = Serving::start(&world);
        let (status, _, said) = serving.ask("POST", "/v1/context", r#"{"message":"drain the gateway"}"#);
        serving.kill();
        let context: serde_json::Value = serde_json::from_str(&said).expect("an answer");
        assert_eq!((status, &context["skipped"]), (200, &serde_json::json!([])), "{said}");
        let receipt = world.json("receipt replay", &[&text(&context["receipt"])]);
        assert_eq!((&receipt["text"], &receipt["exact"]), (&context["text"], &serde_json::json!(true)));
    }
}

#[test]
fn a_context_does_not_wait_for_a_locked_file_and_its_receipt_is_saved_later() {
    let world = World::on_file();
    world.json("remember --store workspace_runbooks --kind runbook --path a", &["drain the gateway first"]);
    // Short, so that the writer gives up and tries again while the turn still listens.
    let serving = Serving::start_with(&world, &[("INGRAIN_SQLITE_WAIT_MS", "200")]);
    let other = rusqlite::Connection::open(world.database()).expect("opens");
    other.execute_batch("begin immediate").expect("locks");
    let (status, _, said) = serving.ask("POST", "/v1/context", r#"{"message":"drain the gateway"}"#);
    let context: serde_json::Value = serde_json::from_str(&said).expect("an answer");
    assert!(status == 200 && text(&context["text"]).contains("drain the gateway first"), "{said}");
    assert_eq!(context["skipped"], serde_json::json!([engine::RECEIPT_PENDING]));
    // Reading the receipt meanwhile fails with `store.busy`; the list of receipts still works.
    let (status, _, busy) = serving.ask("GET", &format!("/v1/receipts/{}", text(&context["receipt"])), "");
    assert!(status == 503 && busy.contains("store.busy"), "{busy}");
    assert_eq!(serving.ask("GET", "/v1/receipts", "").0, 200);
    other.execute_batch("rollback").expect("lets go");
    // The server knows that it is on its way, and waits for it. On a busy machine its writer may miss the moment within
    // its short wait; the answer then says to try again.
    let ask = || serving.ask("GET", &format!("/v1/receipts/{}", text(&context["receipt"])), "");
    let (status, _, said) = (0..50).map(|_| ask()).find(|(status, ..)| *status != 503).expect("an answer in time");
    assert_eq!(status, 200, "{said}");
}

#[test]
fn a_stalled_reader_of_stderr_does_not_stop_the_server() {
    // Longer than any pipe, which is 64 kB here and there more.
    const CALLS: usize = 3_000;
    let world = World::new();
    let mut serving = Serving::start(&world);
    let told = serving.child.stderr.take().expect("a pipe");
    let mut line = TcpStream::connect(&serving.address).expect("a line");
    // A server that stands still fails the test instead of holding it up.
    line.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("set");
    let mut answers = BufReader::new(line.try_clone().expect("twice"));
    let request = format!("HEAD /v1/stores HTTP/1.1\r\nhost: {}\r\n\r\n", serving.address);
    let mut ask = || {
        line.write_all(request.as_bytes()).expect("sent");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            answers.read_line(&mut head).expect("an answer");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    };
    (0..CALLS).for_each(|_| ask());
    // Once somebody reads again he is told, and only whole lines.
    let mut told = BufReader::new(told).lines().map(|line| line.expect("a line"));
    let mut lost = None;
    while lost.is_none() {
        let line = told.next().expect("more of the log");
        lost = line.strip_prefix("WARN ").map(str::to_owned);
        assert!(lost.is_some() || line.contains("answered") || line.contains("INFO"), "{line}");
        if lost.is_none() {
            ask();
        }
    }
    assert!(lost.is_some_and(|lost| lost.contains("log lines were dropped")));
}

#[test]
fn a_save_on_a_locked_file_is_answered_busy_before_the_request_times_out() {
    let world = World::on_file();
    world.json("remember --path first", &["the first word"]);
    let serving = Serving::start_with(&world, &[("INGRAIN_SERVER_LIMITS_TIMEOUT_SECS", "2")]);
    let other = rusqlite::Connection::open(world.database()).expect("opens");
    other.execute_batch("begin immediate").expect("locks");
    let body = r#"{"store":"workspace_runbooks","path":"n","content":"n","kind":"runbook"}"#;
    // The first entry of a log makes the log first.
    for (path, body) in [("/v1/memories", body), ("/v1/audit", r#"{"action":"a.b","message":"m"}"#)] {
        let (status, _, said) = serving.ask("POST", path, body);
        assert!(status == 503 && said.contains("store.busy"), "{path}: {status} {said}");
    }
    other.execute_batch("rollback").expect("lets go");
    // A save that failed as busy is not written later.
    let (status, _, said) = serving.ask("GET", "/v1/memories", "");
    assert!(status == 200 && !said.contains("\"n\""), "{said}");
    let (_, _, said) = serving.ask("GET", "/v1/audit", "");
    assert!(said.contains("\"items\":[]"), "{said}");
    assert_eq!(serving.ask("POST", "/v1/memories", body).0, 201);
}

/// Somebody else writes to the file for as long as he likes.
#[test]
fn reads_and_shutdown_work_while_saves_wait_for_a_locked_file() {
    // As many as may save at once, and some more.
    const CALLS: usize = 64;
    const SAVERS: usize = CALLS + 6;
    let world = World::on_file();
    world.json("remember --path first", &["the first word"]);
    let mut serving = Serving::start_with(&world, &[("INGRAIN_SQLITE_WAIT_MS", "600000")]);
    let other = rusqlite::Connection::open(world.database()).expect("opens");
    other.execute_batch("begin immediate").expect("locks");
    let mut lines: Vec<TcpStream> = Vec::new();
    for number in 0..SAVERS {
        let mut line = TcpStream::connect(&serving.address).expect("a line");
        let body =
            format!(r#"{{"store":"workspace_runbooks","path":"n/{number}","content":"{number}","kind":"runbook"}}"#);
        let (length, address) = (body.len(), &serving.address);
        write!(
            line,
            "POST /v1/memories HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .expect("sent");
        lines.push(line);
    }
    let waiting = || {
        let (_, _, page) = serving.ask("GET", "/metrics", "");
        let of = |line: &str| line.strip_prefix("ingrain_running ")?.parse::<usize>().ok();
        page.lines().find_map(of).expect("a gauge")
    };
    while waiting() < CALLS {
        std::thread::yield_now();
    }
    for path in ["/healthz", "/readyz", "/v1/memories", "/memory/search?query=first"] {
        let (status, _, said) = serving.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {status} {said}");
    }
    let id = serving.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
    // Nobody lets go of the file before it has ended.
    assert_eq!(serving.child.wait().expect("ends").code(), Some(1));
    other.execute_batch("rollback").expect("lets go");
    assert_eq!(rows(&world.json("list --prefix first", &[])["memories"]).len(), 1);
}

/// Locks the heads of all tenants, so that every write waits.
fn hold(database: &Database) -> Session {
    let session = Session::open(&database.url("postgres"));
    session.ask("begin; select 1 from ingrain.heads for update");
    session
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn the_owner_migrates_and_the_application_role_serves() {
    let server = server();
    let database = Database::empty(&server);
    let (owner, app) = (database.url(OWNER), database.url(APP));
    let world = World::on_server(database);
    // Before: the application cannot prepare, and says who can.
    assert!(text(&world.fails(1, "list", &[])["error"]).contains("ingrain migrate"));
    assert_eq!(world.code(1, "migrate --db", &[&app]), "store.unwritable");
    let migrated = world.json("migrate --citus --db", &[&owner]);
    assert_eq!(migrated["from"].as_u64(), Some(0));
    let notes: Vec<String> = rows(&migrated["notes"]).iter().map(text).collect();
    assert!(notes.iter().any(|note| note.contains("not a Citus cluster")), "{notes:?}");
    assert_eq!(world.json("migrate --db", &[&owner])["from"], migrated["to"]);
    let serving = Serving::start(&world);
    assert_eq!(serving.save("runbooks/a").0, 201);
    let (status, _, found) = serving.ask("POST", "/v1/search", r#"{"query":"said"}"#);
    assert!(status == 200 && found.contains("runbooks/a"), "{status} {found}");
    assert_eq!(serving.ask("GET", "/readyz", "").0, 200);
    // A second server shares it, and the command line sees the same.
    let second = Serving::start(&world);
    assert!(second.ask("POST", "/v1/search", r#"{"query":"said"}"#).2.contains("runbooks/a"));
    assert_eq!(text(&world.json("read runbooks/a", &[])["content"]), "said at runbooks/a");
    drop((serving, second));
    let database = world.into_server().expect("a server");
    let rights =
        "select rolname from pg_roles where rolname in ('ingrain_app', 'facts_app') and (rolsuper or rolbypassrls)
         union all select relname from pg_class where relowner in ('ingrain_app'::regrole, 'facts_app'::regrole)";
    assert_eq!(database.ask(rights), [""; 0], "the application owns nothing and cannot pass the walls");
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_full_pool_answers_503_with_retry_after() {
    let server = server();
    let database = Database::fresh(&server);
    let url = database.url(APP);
    let world = World::on_server(database).configured("[postgres]\nconnections_max = 1\nwait_ms = 50\n");
    let serving = Serving::start(&world);
    let database = world.server().expect("a server");
    let holder = hold(database);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| serving.save("runbooks/waiting"));
        let full = loop {
            let answer = serving.ask("GET", "/v1/stores", "");
            if answer.0 != 200 {
                break answer;
            }
        };
        assert!(full.0 == 503 && full.1.contains("\r\nretry-after: "), "{full:?}");
        assert!(full.2.contains("store.unavailable") && !full.2.contains(&url), "{full:?}");
        holder.ask("commit");
        assert_eq!(waiting.join().expect("ends").0, 201, "who had the connection is served");
    });
    assert_eq!(serving.ask("GET", "/v1/stores", "").0, 200);
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_statement_that_takes_too_long_is_cancelled() {
    let server = server();
    let world = World::on_server(Database::fresh(&server)).configured("[postgres]\nstatement_ms = 100\n");
    let serving = Serving::start(&world);
    let holder = hold(world.server().expect("a server"));
    let ended = serving.save("runbooks/slow");
    assert!(ended.0 == 503 && ended.1.contains("\r\nretry-after: "), "{ended:?}");
    holder.ask("commit");
    assert_eq!(serving.save("runbooks/slow").0, 201, "nothing of it was written");
}
