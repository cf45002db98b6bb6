//! Work that nobody waits for, again and again: what `serve` and the door on the standard streams keep up beside their calls.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::UpkeepOptions;
use engine::model::id::TenantId;
use tokio::sync::Mutex;

use crate::entrance::Entrance;

/// What a round under way gets at the end, to give back its turn: another process would wait minutes for it.
const LAST_ROUND_TIMEOUT: Duration = Duration::from_millis(500);

/// One round at once, then one each time this long has passed. `round` says whether it went well.
pub(crate) async fn run_periodically<F: Future<Output = bool>>(every: Duration, round: impl Fn() -> F) {
    let mut ticks = tokio::time::interval(every.max(Duration::from_secs(1)));
    loop {
        ticks.tick().await;
        if !round().await {
            tracing::warn!("upkeep failed; the next round tries again");
        }
    }
}

/// Serves, and meanwhile gives vectors to what has none of the current model. With nothing to do a round is one look.
pub(crate) async fn serve_with_vector_upkeep<T>(
    entrance: Entrance,
    tenant: TenantId,
    every: Duration,
    serving: impl Future<Output = T>,
) -> T {
    let (going_on, at_work) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(())));
    let keeper = tokio::spawn({
        let (going_on, at_work) = (Arc::clone(&going_on), Arc::clone(&at_work));
        run_periodically(every, move || {
            let (entrance, going_on, at_work) = (entrance.clone(), Arc::clone(&going_on), Arc::clone(&at_work));
            async move {
                let turn = at_work.lock_owned().await;
                let round = entrance.call_unqueued("upkeep_vectors", move |engine| {
                    let done =
                        engine.upkeep_vectors(tenant, UpkeepOptions::default(), &|| going_on.load(Ordering::Relaxed));
                    drop(turn);
                    Ok(done.is_ok())
                });
                round.await.unwrap_or(false)
            }
        })
    });
    let served = serving.await;
    going_on.store(false, Ordering::Relaxed);
    keeper.abort();
    // Whoever is still at it is waited for only a moment: the client has gone.
    let _ = tokio::time::timeout(LAST_ROUND_TIMEOUT, at_work.lock()).await;
    served
}
