//! A commit whose answer is lost on the way: the connection breaks while the server is still at work on it.

use std::io::{Read, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::model::event::{EventBody, EventName};
use engine::ports::change::Write;
use engine::ports::{Backend, Filter};
use store::{PostgresOptions, open_postgres};
use tokio_postgres::Client;

use crate::postgres::{APP, Database, connect, runtime, server};
use crate::world::{World, draft};

/// Key of the advisory lock at which the server stops in the middle of a commit.
const COMMIT_GATE: i64 = 4711;

/// Forwards a Postgres socket. Once armed, it cuts off the client that sends the next commit, after passing it on.
struct CuttingProxy {
    folder: tempfile::TempDir,
    armed: Arc<AtomicBool>,
}

impl CuttingProxy {
    fn start(socket: &Path) -> CuttingProxy {
        let folder = tempfile::tempdir().expect("a folder");
        let name = socket.file_name().expect("a socket has a name");
        let listener = UnixListener::bind(folder.path().join(name)).expect("listens");
        let armed = Arc::new(AtomicBool::new(false));
        let (server, is_armed) = (socket.to_owned(), Arc::clone(&armed));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let to_server = UnixStream::connect(&server).expect("connects");
                let (from_server, to_client) =
                    (to_server.try_clone().expect("clones"), client.try_clone().expect("clones"));
                let armed = Arc::clone(&is_armed);
                thread::spawn(move || forward_answers(from_server, to_client));
                thread::spawn(move || forward_requests(client, to_server, &armed));
            }
        });
        CuttingProxy { folder, armed }
    }
}

fn forward_answers(mut server: UnixStream, mut client: UnixStream) {
    // Ends when either side is gone.
    let _ = std::io::copy(&mut server, &mut client);
    let _ = client.shutdown(std::net::Shutdown::Both);
}

fn forward_requests(mut client: UnixStream, mut server: UnixStream, armed: &AtomicBool) {
    let mut buffer = [0; 65_536];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        let sent = &buffer[..length];
        if server.write_all(sent).is_err() {
            return;
        }
        let commits = sent.windows(7).any(|bytes| bytes == b"commit\0");
        if commits && armed.swap(false, Ordering::SeqCst) {
            // The server's side stays open: it has the commit and works on.
            let _ = client.shutdown(std::net::Shutdown::Both);
            thread::park();
        }
    }
}

/// The folder and file of the server's socket, from the test's URL.
fn socket_of(url: &str) -> PathBuf {
    let folder = url.split_once("host=").expect("the URL names the socket's folder").1;
    let folder = folder.split('&').next().unwrap_or(folder);
    let entries = std::fs::read_dir(folder).expect("lists").flatten().map(|entry| entry.path());
    let is_socket = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".s.PGSQL."))
            && path.extension().is_some_and(|extension| extension != "lock")
    };
    entries.filter(is_socket).find(|path| UnixStream::connect(path).is_ok()).expect("a socket")
}

async fn wait_until_a_writer_waits(client: &Client) {
    let sql = "select 1 from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock'
                 and wait_event in ('transactionid', 'tuple')";
    let deadline = Instant::now() + Duration::from_secs(20);
    while client.query(sql, &[]).await.expect("asks").is_empty() {
        assert!(Instant::now() < deadline, "no second attempt waits for the first");
    }
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_save_whose_answer_was_lost_is_not_made_twice() {
    let server_url = server();
    let database = Database::fresh(&server_url);
    let socket = socket_of(&server_url);
    let proxy = CuttingProxy::start(&socket);
    let real_folder = socket.parent().expect("a folder").display().to_string();
    let url = database.url(APP).replace(&real_folder, &proxy.folder.path().display().to_string());
    let options = PostgresOptions { connections_max: 2, ..PostgresOptions::default() };
    let backend: Arc<dyn Backend> = open_postgres(&url, &options).expect("opens");
    let world = World::new(&*backend);
    let event = EventBody::new(EventName::WriteCreated, &world.agent("c1"), world.now());
    let entry = world.entry("c1", draft("the lost answer"));
    let change = world.change().with_write(Write::Entry(Box::new(entry))).with_event(event);

    runtime().block_on(async {
        // Only a superuser sees what other sessions wait for.
        let superuser = connect(&database.url("postgres")).await;
        superuser
            .batch_execute(&format!(
                "create function ingrain.stop_at_gate() returns trigger language plpgsql as
                   'begin perform pg_advisory_xact_lock_shared({COMMIT_GATE}); return null; end';
                 create constraint trigger gate after insert on ingrain.events
                   deferrable initially deferred for each row execute function ingrain.stop_at_gate();
                 select pg_advisory_lock({COMMIT_GATE})"
            ))
            .await
            .expect("sets the gate");
        proxy.armed.store(true, Ordering::SeqCst);
        let committing = {
            let (backend, change) = (Arc::clone(&backend), change.clone());
            thread::spawn(move || backend.commit(change.scanned()))
        };
        // The second attempt waits behind the first, which the server has not finished yet.
        wait_until_a_writer_waits(&superuser).await;
        superuser.batch_execute(&format!("select pg_advisory_unlock({COMMIT_GATE})")).await.expect("opens the gate");
        committing.join().expect("no panic").expect("is written");
    });
    assert_eq!(world.list(&Filter::default()).len(), 1);
    let mut events = backend.events_after(world.tenant, 0, 10).expect("reads");
    // What set up the world has no event of its own.
    events.retain(|event| event.happening.name != EventName::LogRecorded);
    assert_eq!(events.len(), 1, "the log tells of it once: {events:?}");
}
