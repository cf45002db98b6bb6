//! Live events: one thread per tenant reads the log and broadcasts batches to all streams of that tenant. Each stream
//! filters for its own caller.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use axum::body::Bytes;
use engine::Engine;
use engine::model::error::Error;
use engine::model::event::Event;
use engine::model::id::TenantId;
use tokio::sync::broadcast;

use crate::app::App;
use crate::lock::lock_unpoisoned;
use crate::problem::Problem;

/// Most events in one batch; bounds its memory.
const BATCH_EVENTS_MAX: usize = 100;
/// Longest wait for new events before the reader checks whether a stream is still open.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// The running readers by tenant.
#[derive(Default)]
pub(crate) struct EventReaders(Mutex<HashMap<TenantId, Weak<EventReader>>>);

/// One tenant's reader, owned by its streams; it ends with the last of them.
pub(crate) struct EventReader {
    sender: broadcast::Sender<Arc<EventBatch>>,
}

/// Events in order, each rendered once for all streams that show it in full.
pub(crate) struct EventBatch {
    pub(crate) entries: Vec<BatchEntry>,
    /// Sequence number up to which the log was read.
    pub(crate) read_to: u64,
}

pub(crate) struct BatchEntry {
    pub(crate) event: Event,
    frame: String,
}

impl EventBatch {
    fn from_events(events: Vec<Event>, after: u64) -> EventBatch {
        let read_to = events.last().map_or(after, |event| event.seq);
        let entry = |event: Event| BatchEntry { frame: sse_frame(&event), event };
        EventBatch { entries: events.into_iter().map(entry).collect(), read_to }
    }

    /// The SSE frames of the entries after `after`, each as `shown` lets the caller see it.
    pub(crate) fn render_frames(&self, after: u64, shown: impl Fn(&Event) -> Option<Cow<'_, Event>>) -> Option<Bytes> {
        let mut text = String::new();
        for entry in self.entries.iter().filter(|entry| entry.event.seq > after) {
            match shown(&entry.event) {
                Some(Cow::Borrowed(_)) => text.push_str(&entry.frame),
                Some(Cow::Owned(event)) => text.push_str(&sse_frame(&event)),
                None => {}
            }
        }
        (!text.is_empty()).then(|| Bytes::from(text))
    }
}

fn sse_frame(event: &Event) -> String {
    let data = serde_json::to_string(event).unwrap_or_default();
    format!("id: {}\nevent: {}\ndata: {data}\n\n", event.seq, event.happening.name)
}

impl EventReader {
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<EventBatch>> {
        self.sender.subscribe()
    }
}

/// Reads the next batch of the log. Blocks.
pub(crate) fn read_batch(engine: &Engine, tenant: TenantId, after: u64) -> Result<EventBatch, Problem> {
    Ok(EventBatch::from_events(engine.event_feed().events_after(tenant, after, BATCH_EVENTS_MAX)?, after))
}

/// Whether a batch reached the end of the log at the time it was read.
pub(crate) fn is_log_end(batch: &EventBatch) -> bool {
    batch.entries.len() < BATCH_EVENTS_MAX
}

/// The tenant's reader, started if none runs. Blocks.
pub(crate) fn reader_for_tenant(app: &App, tenant: TenantId) -> Result<Arc<EventReader>, Problem> {
    // Held until the reader is stored: two streams of one tenant must not start two readers.
    let mut readers = lock_unpoisoned(&app.event_readers.0);
    if let Some(reader) = readers.get(&tenant).and_then(Weak::upgrade) {
        return Ok(reader);
    }
    // Readers of closed streams are dropped here, when a new one starts.
    readers.retain(|_, reader| reader.strong_count() > 0);
    // Before the thread starts, so that no event after this call is missed.
    let from = app.entrance.engine().event_feed().last_event_seq(tenant)?;
    let reader = Arc::new(EventReader { sender: broadcast::Sender::new(app.config.limits.stream_lag_max) });
    let (thread_app, weak_reader) = (app.clone(), Arc::downgrade(&reader));
    let thread = std::thread::Builder::new().name("ingrain-events".to_owned());
    thread.spawn(move || follow_log(&thread_app, tenant, from, &weak_reader)).map_err(|_| Problem::internal())?;
    readers.insert(tenant, Arc::downgrade(&reader));
    Ok(reader)
}

/// Broadcasts new events until the last stream is closed. On a thread of its own, outside the permits of the entrance:
/// it waits for events nearly all the time.
fn follow_log(app: &App, tenant: TenantId, from: u64, weak_reader: &Weak<EventReader>) {
    let mut after = from;
    let closing = app.closing_signal();
    while weak_reader.strong_count() > 0 && !*closing.borrow() {
        let last_seq = app.entrance.engine().event_feed().wait_events(tenant, after, WAIT_MAX);
        let batch = match last_seq {
            Ok(last) if last > after => read_batch(app.entrance.engine(), tenant, after),
            Ok(_) => continue,
            // Wait below before the next try: the database may be away for a while.
            Err(error) => Err(Error::from(error).into()),
        };
        match (batch, weak_reader.upgrade()) {
            (Ok(batch), Some(reader)) => {
                after = batch.read_to;
                // No subscriber right now is fine: a new stream reads the log before it joins.
                let _ = reader.sender.send(Arc::new(batch));
            }
            // Nothing is lost: the next read begins at the same number.
            (Err(_), _) => std::thread::sleep(WAIT_MAX),
            (_, None) => return,
        }
    }
}
