//! Periodic background work of `serve` and of MCP on stdio.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::UpkeepOptions;
use engine::model::id::TenantId;
use tokio::sync::Mutex;

use crate::entrance::Entrance;

/// Longest wait at the end for a round under way to release its lease. Without that, another process waits minutes for
/// the lease to expire.
const LAST_ROUND_TIMEOUT: Duration = Duration::from_millis(500);

/// Runs a round at once, then one every `every`. `round` returns whether it succeeded.
pub(crate) async fn run_periodically<F: Future<Output = bool>>(every: Duration, round: impl Fn() -> F) {
    let mut ticks = tokio::time::interval(every.max(Duration::from_secs(1)));
    loop {
        ticks.tick().await;
        if !round().await {
            tracing::warn!("upkeep failed; the next round will try again");
        }
    }
}

/// Runs `serving`, and meanwhile embeds memories that have no vector of the current model. A round with nothing to do
/// costs one query.
pub(crate) async fn serve_with_vector_upkeep<T>(
    entrance: Entrance,
    tenant: TenantId,
    every: Duration,
    serving: impl Future<Output = T>,
) -> T {
    let (keep_going, round_lock) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(())));
    let upkeep = tokio::spawn({
        let (keep_going, round_lock) = (Arc::clone(&keep_going), Arc::clone(&round_lock));
        run_periodically(every, move || {
            let (entrance, keep_going, round_lock) =
                (entrance.clone(), Arc::clone(&keep_going), Arc::clone(&round_lock));
            async move {
                let round_guard = round_lock.lock_owned().await;
                let round = entrance.call_unqueued("upkeep_vectors", move |engine| {
                    let done =
                        engine.upkeep_vectors(tenant, UpkeepOptions::default(), &|| keep_going.load(Ordering::Relaxed));
                    drop(round_guard);
                    Ok(done.is_ok())
                });
                round.await.unwrap_or(false)
            }
        })
    });
    let served = serving.await;
    keep_going.store(false, Ordering::Relaxed);
    upkeep.abort();
    // The abort does not stop a blocking round. It sees the flag, ends, and releases the lock.
    let _ = tokio::time::timeout(LAST_ROUND_TIMEOUT, round_lock.lock()).await;
    served
}
