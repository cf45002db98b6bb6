//! Wakes threads that wait for events of other processes, by Postgres `listen` and `notify`.

use std::future::poll_fn;
use std::sync::Weak;
use std::time::Duration;

use tokio_postgres::AsyncMessage;

use super::events::EVENTS_CHANNEL;
use super::server_url::ServerUrl;
use crate::notifier::Notifier;

/// Poll interval of waiting threads: a notification is lost while the connection is down.
pub(super) const EVENT_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Pause before reconnecting.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Listens while the backend holds the notifier; reconnects when the connection breaks.
pub(super) async fn listen_for_events(url: ServerUrl, notifier: Weak<Notifier>) {
    while notifier.strong_count() > 0 {
        // Outside the pool: `listen` belongs to one connection, which has to stay open.
        if let Ok((client, mut connection)) = url.connect().await {
            let listener = notifier.clone();
            // Spawned before `listen` is sent: nothing is sent or received unless the connection is polled.
            let reading = tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                    // The payload is not needed: woken threads read the log.
                    if let (AsyncMessage::Notification(_), Some(notifier)) = (message, listener.upgrade()) {
                        notifier.notify_all();
                    }
                }
            });
            if client.batch_execute(&format!("listen {EVENTS_CHANNEL}")).await.is_ok() {
                // Returns when the connection ends. The client stays in scope meanwhile: dropping it would close the
                // connection.
                let _ = reading.await;
            }
        }
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
}
