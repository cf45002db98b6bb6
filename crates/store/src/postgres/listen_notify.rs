//! Wakes those who wait for events: this process rings when it wrote, the server tells when another one did.

use std::future::poll_fn;
use std::sync::Weak;
use std::time::Duration;

use tokio_postgres::AsyncMessage;

use super::events::EVENTS_CHANNEL;
use super::server_url::ServerUrl;
use crate::notifier::Notifier;

/// How often those who wait look by themselves: a word of the server may get lost while its line is down.
pub(super) const EVENT_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Pause before the server is asked again to tell.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

/// Listens for as long as somebody holds the bell; connects again when the line breaks.
pub(super) async fn listen_for_events(url: ServerUrl, news: Weak<Notifier>) {
    while news.strong_count() > 0 {
        if let Ok((client, mut connection)) = url.connect().await {
            let bell = news.clone();
            let reading = tokio::spawn(async move {
                while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                    // A reason to look; what happened is read from the log.
                    if let (AsyncMessage::Notification(_), Some(news)) = (message, bell.upgrade()) {
                        news.notify_all();
                    }
                }
            });
            if client.batch_execute(&format!("listen {EVENTS_CHANNEL}")).await.is_ok() {
                // The line lives as long as the client does: until the server ends it.
                let _ = reading.await;
            }
        }
        tokio::time::sleep(RECONNECT_PAUSE).await;
    }
}
