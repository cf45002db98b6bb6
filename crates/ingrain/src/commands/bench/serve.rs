//! `bench serve`: overhead of HTTP on searches, throughput of concurrent saves (group commit), cost of event streams.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::measure::{Figures, Meter};
use super::process::{Process, process_failure};
use super::search::measure_searches;
use super::{WARM_UP, corpus, fill_corpus};
use crate::assemble::Session;
use crate::commands::temp_home::TempHome;
use crate::config::Config;
use crate::error::Failure;
use crate::output::Output;

/// Concurrent savers, compared with one.
const SAVERS: usize = 64;
/// Saves per round of a single saver, and of each concurrent one.
const SAVES_ALONE: usize = 400;
const SAVES_EACH: usize = 60;
/// Alternating rounds, of which the median counts, because the speed of a machine varies within seconds.
const ROUNDS: usize = 5;
/// Event rate, and duration of the measurement.
const EVENTS_PER_SECOND: usize = 100;
const EVENT_SECS: usize = 10;
/// Longest wait for the last event on a stream.
const ARRIVAL_SECS_MAX: u64 = 30;

#[derive(Serialize)]
pub struct ServeReport {
    count: usize,
    in_process: Figures,
    over_http: Figures,
    /// Median wall time over HTTP divided by the median in process.
    search_ratio: f64,
    saves_per_second_alone: f64,
    saves_per_second_many: f64,
    saves_ratio: f64,
    streams: usize,
    events_sent: usize,
    /// Missing events, summed over all streams.
    events_lost: usize,
    /// Peak memory of the server, with all streams open.
    server_memory_bytes: u64,
}

pub fn run(config: &Config, output: &Output, count: usize, queries: usize, streams: usize) -> Result<(), Failure> {
    let place = TempHome::new("bench")?;
    let session = Session::open(&place.redirect_config(config))?;
    fill_corpus(&session, 0..count)?;
    measure_searches(&session, 0, WARM_UP)?;
    let in_process = measure_searches(&session, WARM_UP, queries)?.with_name("in process");
    // Deferred writes must be on disk before the server opens the same file.
    session.close()?;
    let (server, access) = start_server(&place)?;
    let over_http = access.measure_http_searches(queries)?.with_name("over HTTP");
    let (mut alone, mut many) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        alone.push(access.measure_save_rate(1, SAVES_ALONE, round)?);
        many.push(access.measure_save_rate(SAVERS, SAVES_EACH, round)?);
    }
    let (saves_per_second_alone, saves_per_second_many) = (median(alone), median(many));
    let (events_sent, events_lost) = access.measure_streams(streams)?;
    let report = ServeReport {
        count,
        search_ratio: over_http.wall_ms_median / in_process.wall_ms_median.max(f64::EPSILON),
        in_process,
        over_http,
        saves_per_second_alone,
        saves_per_second_many,
        saves_ratio: saves_per_second_many / saves_per_second_alone.max(f64::EPSILON),
        streams,
        events_sent,
        events_lost,
        server_memory_bytes: server.peak_memory_bytes(),
    };
    output.print_answer(&report, || render_report(&report))
}

fn render_report(report: &ServeReport) -> String {
    format!(
        "search among {} memories: median {:.3} ms in process, {:.3} ms over HTTP ({:.1} times)\n\
         saves: {:.0} a second by one, {:.0} by {SAVERS} ({:.1} times)\n\
         events: {} sent at {EVENTS_PER_SECOND} a second to {} streams, {} lost\n\
         server memory: {:.1} MB at most",
        report.count,
        report.in_process.wall_ms_median,
        report.over_http.wall_ms_median,
        report.search_ratio,
        report.saves_per_second_alone,
        report.saves_per_second_many,
        report.saves_ratio,
        report.events_sent,
        report.streams,
        report.events_lost,
        report.server_memory_bytes as f64 / 1e6,
    )
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// Starts a server and waits until it answers.
pub(super) fn start_server(place: &TempHome) -> Result<(Process, ServerAccess), Failure> {
    let mut server = Process::start(place, &["serve", "--port", "0", "--json"])?;
    let started = server.read_json()?;
    let word = |name: &str| {
        started[name].as_str().map(str::to_owned).ok_or_else(|| process_failure("the start report lacks a field"))
    };
    let access = ServerAccess { address: word("address")?.replace("http://", ""), key: word("admin_key")? };
    Ok((server, access))
}

/// Address and key of the server.
pub(super) struct ServerAccess {
    address: String,
    key: String,
}

/// HTTP connection with keep-alive.
pub(super) struct HttpConnection {
    reader: BufReader<TcpStream>,
    head: String,
}

impl ServerAccess {
    fn request_headers(&self) -> String {
        format!(
            "host: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\nx-conversation-id: bench\r\n",
            self.address, self.key
        )
    }

    pub(super) fn open_connection(&self) -> Result<HttpConnection, Failure> {
        let socket = TcpStream::connect(&self.address).map_err(process_failure)?;
        // Without Nagle, whose delay would hide the time of the server.
        socket.set_nodelay(true).map_err(process_failure)?;
        Ok(HttpConnection { reader: BufReader::new(socket), head: self.request_headers() })
    }

    fn measure_http_searches(&self, queries: usize) -> Result<Figures, Failure> {
        let mut connection = self.open_connection()?;
        let mut search =
            |number: usize| connection.post_json("/v1/search", &json!({ "query": corpus::generate_query(number) }));
        (0..WARM_UP).try_for_each(&mut search)?;
        let mut meter = Meter::start(queries);
        for number in WARM_UP..WARM_UP + queries {
            meter.time_operation(|| search(number))?;
        }
        Ok(meter.stop())
    }

    /// Saves per second with the given number of concurrent savers.
    fn measure_save_rate(&self, savers: usize, each: usize, round: usize) -> Result<f64, Failure> {
        // Connected before the clock starts: only saves are measured.
        let connections = (0..savers).map(|_| self.open_connection()).collect::<Result<Vec<_>, _>>()?;
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let work = |(saver, mut connection): (usize, HttpConnection)| {
                scope.spawn(move || {
                    (0..each).try_for_each(|number| {
                        // Each text is different, or the server would take it for a duplicate.
                        connection.save_memory(&format!("by {savers} in round {round}: {saver}/{number}"))
                    })
                })
            };
            let running: Vec<_> = connections.into_iter().enumerate().map(work).collect();
            running
                .into_iter()
                .try_for_each(|thread| thread.join().map_err(|_| process_failure("a saver thread panicked"))?)
        })?;
        Ok((savers * each) as f64 / begun.elapsed().as_secs_f64())
    }

    /// Number of events sent, and number of missing ones over all streams.
    fn measure_streams(&self, streams: usize) -> Result<(usize, usize), Failure> {
        // One thread, to leave the other cores to the server.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        runtime.map_err(process_failure)?.block_on(async {
            let (ready, mut opened) = mpsc::channel(streams);
            let sent = EVENTS_PER_SECOND * EVENT_SECS;
            let follow =
                |_| tokio::spawn(follow_events(self.address.clone(), self.request_headers(), ready.clone(), sent));
            let followers: Vec<_> = (0..streams).map(follow).collect();
            // All streams must be subscribed before the first event.
            for _ in 0..streams {
                opened.recv().await.ok_or_else(|| process_failure("a stream did not open"))?;
            }
            let mut connection = self.open_connection()?;
            let saving = tokio::task::spawn_blocking(move || {
                let begun = Instant::now();
                (0..sent).try_for_each(|number| {
                    // Fixed rate: a slow save does not shift the later ones.
                    let due = Duration::from_secs_f64(number as f64 / EVENTS_PER_SECOND as f64);
                    std::thread::sleep(due.saturating_sub(begun.elapsed()));
                    connection.save_memory(&format!("event {number}"))
                })
            });
            saving.await.map_err(process_failure)??;
            let mut lost = 0;
            for follower in followers {
                lost += sent - follower.await.map_err(process_failure)?;
            }
            Ok((sent, lost))
        })
    }
}

/// Follows one event stream and counts the received events.
async fn follow_events(address: String, head: String, ready: mpsc::Sender<()>, awaited: usize) -> usize {
    let Ok(mut socket) = tokio::net::TcpStream::connect(&address).await else { return 0 };
    let request =
        format!("GET /v1/events?name=memory.write.created HTTP/1.1\r\n{head}accept: text/event-stream\r\n\r\n");
    if socket.write_all(request.as_bytes()).await.is_err() {
        return 0;
    }
    let mut lines = tokio::io::BufReader::new(socket).lines();
    let mut count = 0;
    while count < awaited {
        // For each line, and longer than all events take to send: only a lost event lets it pass.
        let timeout = Duration::from_secs(ARRIVAL_SECS_MAX + EVENT_SECS as u64);
        let Ok(Ok(Some(line))) = tokio::time::timeout(timeout, lines.next_line()).await else { break };
        // The server greets every stream with a comment; only then is the stream subscribed.
        if line.starts_with(": ingrain") {
            let _ = ready.send(()).await;
        }
        count += usize::from(line.starts_with("event: memory.write.created"));
    }
    count
}

impl HttpConnection {
    pub(super) fn save_memory(&mut self, content: &str) -> Result<(), Failure> {
        let evidence = json!([{ "kind": "tool_result", "summary": "seen in a benchmark" }]);
        let body = json!({
            "store": "conversation_memory", "kind": "tool_usage_lesson", "content": content, "evidence": evidence,
        });
        self.post_json("/v1/memories", &body)
    }

    fn post_json(&mut self, path: &str, body: &Value) -> Result<(), Failure> {
        let body = body.to_string();
        let request = format!("POST {path} HTTP/1.1\r\n{}content-length: {}\r\n\r\n{body}", self.head, body.len());
        self.reader.get_mut().write_all(request.as_bytes()).map_err(process_failure)?;
        let (mut status, mut length) = (String::new(), 0);
        self.reader.read_line(&mut status).map_err(process_failure)?;
        loop {
            let mut line = String::new();
            // An empty line (`\r\n`) ends the headers.
            if self.reader.read_line(&mut line).map_err(process_failure)? <= 2 {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(process_failure)?;
            }
        }
        // Read in full, or the next answer on this connection would begin inside this one.
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).map_err(process_failure)?;
        match status.split(' ').nth(1) {
            Some("200" | "201") => Ok(()),
            _ => Err(process_failure(String::from_utf8_lossy(&body))),
        }
    }
}
