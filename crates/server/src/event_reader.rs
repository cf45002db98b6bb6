//! Live events: one reader of the log per tenant, shared by all its streams; each stream shows what its caller may see.

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

/// Events read in one go: bounds what one batch may hold in memory.
const BATCH_EVENTS_MAX: usize = 100;
/// How long the reader waits for news before it asks whether anybody still listens.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// The readers that run now.
#[derive(Default)]
pub(crate) struct EventReaders(Mutex<HashMap<TenantId, Weak<EventReader>>>);

/// One tenant's reader. Streams hold it; when the last goes, it ends.
pub(crate) struct EventReader {
    sender: broadcast::Sender<Arc<EventBatch>>,
}

/// Events in order, each written out once for all streams that show all of it.
pub(crate) struct EventBatch {
    pub(crate) entries: Vec<BatchEntry>,
    /// The log was read up to this number.
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

    /// The frames of what is shown of the entries after `after`, as one piece.
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

/// A stretch of the log, written out. Blocks.
pub(crate) fn read_batch(engine: &Engine, tenant: TenantId, after: u64) -> Result<EventBatch, Problem> {
    Ok(EventBatch::from_events(engine.event_feed().events_after(tenant, after, BATCH_EVENTS_MAX)?, after))
}

/// Whether a batch reached the end of the log when it was read.
pub(crate) fn is_log_end(batch: &EventBatch) -> bool {
    batch.entries.len() < BATCH_EVENTS_MAX
}

/// The tenant's reader, started where none runs. Blocks.
pub(crate) fn reader_for_tenant(app: &App, tenant: TenantId) -> Result<Arc<EventReader>, Problem> {
    let mut tails = lock_unpoisoned(&app.event_readers.0);
    if let Some(tail) = tails.get(&tenant).and_then(Weak::upgrade) {
        return Ok(tail);
    }
    tails.retain(|_, tail| tail.strong_count() > 0);
    let from = app.entrance.engine().event_feed().last_event_seq(tenant)?;
    let tail = Arc::new(EventReader { sender: broadcast::Sender::new(app.config.limits.stream_lag_max) });
    let (reader, held) = (app.clone(), Arc::downgrade(&tail));
    let named = std::thread::Builder::new().name("ingrain-events".to_owned());
    named.spawn(move || follow_log(&reader, tenant, from, &held)).map_err(|_| Problem::internal())?;
    tails.insert(tenant, Arc::downgrade(&tail));
    Ok(tail)
}

/// Reads the log as it grows and hands it on, as long as somebody listens.
fn follow_log(app: &App, tenant: TenantId, from: u64, held: &Weak<EventReader>) {
    let mut after = from;
    let closing = app.closing_signal();
    while held.strong_count() > 0 && !*closing.borrow() {
        let news = app.entrance.engine().event_feed().wait_events(tenant, after, WAIT_MAX);
        let batch = match news {
            Ok(last) if last > after => read_batch(app.entrance.engine(), tenant, after),
            Ok(_) => continue,
            Err(error) => Err(Error::from(error).into()),
        };
        match (batch, held.upgrade()) {
            (Ok(batch), Some(tail)) => {
                after = batch.read_to;
                // Nobody listening just now is no failure: the next stream reads the log first.
                let _ = tail.sender.send(Arc::new(batch));
            }
            (Err(_), _) => std::thread::sleep(WAIT_MAX),
            (_, None) => return,
        }
    }
}
