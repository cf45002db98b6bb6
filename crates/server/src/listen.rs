//! The listening socket: accepts, bounds and closes connections, runs upkeep, and shuts down in order.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use engine::UpkeepOptions;
use engine::model::error::Error;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::app::App;
use crate::connection_timer::ConnectionTimer;
use crate::router_for_app;
use crate::stalled_socket::StallCheckedSocket;
use crate::upkeep_loop::run_periodically;

/// Longest wait at shutdown for requests that are under way; after it they are cut off.
const SHUTDOWN_SECS: u64 = 10;
/// Longest wait after that for the last writes to reach the disk.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);
const FLUSH_TIMED_OUT: &str =
    "another process holds the database; acknowledged changes are safe, the last usage records may be missing";
/// Pause after a failed accept, so that running out of file descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `ending` completes, then answers requests that are under way and flushes the database.
pub async fn serve(app: App, listener: TcpListener, ending: impl Future<Output = ()> + Send) -> io::Result<()> {
    let router = router_for_app(app.clone());
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(app.config.limits.connections_max));
    let upkeep = tokio::spawn(run_upkeep(app.clone()));
    let mut ending = std::pin::pin!(ending);
    loop {
        // The permit comes first: an accepted connection without one would wait inside the process, invisible to
        // the client. Without it, the kernel's backlog holds it.
        let next = async {
            let permit = Arc::clone(&permits).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(socket, peer)| (permit, socket, peer))
        };
        // Also while every connection is taken, the end must be noticed.
        let (permit, socket, peer) = tokio::select! {
            accepted = next => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut ending => break,
        };
        // Small answers are sent at once instead of waiting for more data.
        let _ = socket.set_nodelay(true);
        let header_time = Duration::from_secs(app.config.limits.header_secs);
        let (router, connection_timer) = (router.clone(), ConnectionTimer::new(header_time));
        let socket = StallCheckedSocket::new(socket, connection_timer.clone(), app.config.limits.request_timeout());
        let header_timer = connection_timer.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(connection_timer.clone());
            router.clone().oneshot(request)
        });
        let connection = http1::Builder::new()
            // A client may close its sending side and still read the answer.
            .half_close(true)
            .timer(header_timer)
            .header_read_timeout(header_time)
            .serve_connection(socket, service);
        // Ends idle connections at shutdown and lets busy ones finish their request.
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that disconnects is no failure of the server.
            let _ = connection.await;
            drop(permit);
        });
    }
    // Closed first, so that no new connection comes while the old ones end.
    drop(listener);
    app.close_streams();
    upkeep.abort();
    let end = tokio::time::Instant::now() + Duration::from_secs(SHUTDOWN_SECS);
    let _ = tokio::time::timeout_at(end, graceful.shutdown()).await;
    // Bounded: another process may hold the database for longer than a shutdown may take.
    let flushed = tokio::time::timeout_at(end + FLUSH_TIMEOUT, app.entrance.flush())
        .await
        .map_err(|_| io::Error::other(FLUSH_TIMED_OUT))?;
    flushed.map_err(io::Error::other)
}

/// Runs upkeep for every tenant, periodically.
async fn run_upkeep(app: App) {
    let every = Duration::from_secs(app.config.limits.upkeep_secs);
    let round = || async {
        let done = app.entrance.call("upkeep", |engine| {
            // One call for all tenants: upkeep takes one permit, not one per tenant.
            for tenant in engine.database().list_tenants().map_err(Error::from)? {
                engine.upkeep(tenant.id, UpkeepOptions::default())?;
                engine.purge_idempotency_keys(tenant.id)?;
            }
            Ok(())
        });
        done.await.is_ok()
    };
    run_periodically(every, round).await;
}
