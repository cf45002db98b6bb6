//! The socket: accepts, bounds and closes connections, and keeps the house meanwhile.

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

/// Longest the end may take: what was begun is answered, what hangs is cut.
const SHUTDOWN_SECS: u64 = 10;
/// And what was left behind to be written, after that.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);
const FLUSH_TIMED_OUT: &str =
    "another process holds the database; what was acknowledged stands, the last notes of who read what may be missing";
/// Pause after a failed accept, so that a full file table is not asked a million times.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `ending` is done; then finishes what it began and writes what it acknowledged.
pub async fn serve(app: App, listener: TcpListener, ending: impl Future<Output = ()> + Send) -> io::Result<()> {
    let router = router_for_app(app.clone());
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(app.config.limits.connections_max));
    let keeper = tokio::spawn(run_upkeep(app.clone()));
    let mut ending = std::pin::pin!(ending);
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(socket, peer)| (place, socket, peer))
        };
        // The end is heard also while every place is taken.
        let (place, socket, peer) = tokio::select! {
            accepted = next => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut ending => break,
        };
        // Small answers go at once.
        let _ = socket.set_nodelay(true);
        let header_time = Duration::from_secs(app.config.limits.header_secs);
        let (router, patience) = (router.clone(), ConnectionTimer::new(header_time));
        let line = StallCheckedSocket::new(socket, patience.clone(), app.config.limits.request_timeout());
        let timer = patience.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(patience.clone());
            router.clone().oneshot(request)
        });
        let connection = http1::Builder::new()
            .half_close(true)
            .timer(timer)
            .header_read_timeout(header_time)
            .serve_connection(line, service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that hangs up is its own affair.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    app.close_streams();
    keeper.abort();
    let end = tokio::time::Instant::now() + Duration::from_secs(SHUTDOWN_SECS);
    let _ = tokio::time::timeout_at(end, graceful.shutdown()).await;
    // Another process may hold the database for longer than anybody waits for this one to end.
    let flushed = tokio::time::timeout_at(end + FLUSH_TIMEOUT, app.entrance.flush())
        .await
        .map_err(|_| io::Error::other(FLUSH_TIMED_OUT))?;
    flushed.map_err(io::Error::other)
}

/// Does what is due for every tenant, again and again.
async fn run_upkeep(app: App) {
    let every = Duration::from_secs(app.config.limits.upkeep_secs);
    let round = || async {
        let kept = app.entrance.call("upkeep", |engine| {
            for tenant in engine.database().list_tenants().map_err(Error::from)? {
                engine.upkeep(tenant.id, UpkeepOptions::default())?;
                engine.purge_idempotency_keys(tenant.id)?;
            }
            Ok(())
        });
        kept.await.is_ok()
    };
    run_periodically(every, round).await;
}
