//! Live events: one reader of the log per tenant, shared by all its streams; each stream shows what its caller may see.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use axum::body::Bytes;
use engine::model::error::Error;
use engine::model::event::Event;
use engine::model::id::TenantId;
use tokio::sync::broadcast;

use crate::app::App;
use crate::problem::Problem;

/// Events read in one go: bounds what one batch may hold in memory.
const BATCH: usize = 100;
/// How long the reader waits for news before it asks whether anybody still listens.
const WAIT: Duration = Duration::from_secs(1);

/// The readers that run now.
#[derive(Default)]
pub(crate) struct Tails(Mutex<HashMap<TenantId, Weak<Tail>>>);

/// One tenant's reader. Streams hold it; when the last goes, it ends.
pub(crate) struct Tail {
    sender: broadcast::Sender<Arc<Batch>>,
}

/// Events in order, each written out once for all streams that show all of it.
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    /// The log was read up to this number.
    pub(crate) read_to: u64,
}

pub(crate) struct Entry {
    pub(crate) event: Event,
    frame: String,
}

impl Batch {
    fn of(events: Vec<Event>, after: u64) -> Batch {
        let read_to = events.last().map_or(after, |event| event.seq);
        let entry = |event: Event| Entry { frame: frame(&event), event };
        Batch { entries: events.into_iter().map(entry).collect(), read_to }
    }

    /// The frames of what is shown of the entries after `after`, as one piece.
    pub(crate) fn frames(&self, after: u64, shown: impl Fn(&Event) -> Option<Cow<'_, Event>>) -> Option<Bytes> {
        let mut text = String::new();
        for entry in self.entries.iter().filter(|entry| entry.event.seq > after) {
            match shown(&entry.event) {
                Some(Cow::Borrowed(_)) => text.push_str(&entry.frame),
                Some(Cow::Owned(event)) => text.push_str(&frame(&event)),
                None => {}
            }
        }
        (!text.is_empty()).then(|| Bytes::from(text))
    }
}

fn frame(event: &Event) -> String {
    let data = serde_json::to_string(event).unwrap_or_default();
    format!("id: {}\nevent: {}\ndata: {data}\n\n", event.seq, event.happening.name)
}

impl Tail {
    pub(crate) fn listen(&self) -> broadcast::Receiver<Arc<Batch>> {
        self.sender.subscribe()
    }
}

/// A stretch of the log, written out. Blocks.
pub(crate) fn read(app: &App, tenant: TenantId, after: u64) -> Result<Batch, Problem> {
    Ok(Batch::of(app.engine.backend.events(tenant, after, BATCH).map_err(Error::from)?, after))
}

/// Whether a batch reached the end of the log when it was read.
pub(crate) fn is_last(batch: &Batch) -> bool {
    batch.entries.len() < BATCH
}

/// The tenant's reader, started where none runs. Blocks.
pub(crate) fn tail(app: &App, tenant: TenantId) -> Result<Arc<Tail>, Problem> {
    let mut tails = app.tails.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(tail) = tails.get(&tenant).and_then(Weak::upgrade) {
        return Ok(tail);
    }
    tails.retain(|_, tail| tail.strong_count() > 0);
    let from = app.engine.backend.last_event(tenant).map_err(Error::from)?;
    let tail = Arc::new(Tail { sender: broadcast::Sender::new(app.config.limits.stream_lag_max) });
    let (reader, held) = (app.clone(), Arc::downgrade(&tail));
    let named = std::thread::Builder::new().name("ingrain-events".to_owned());
    named.spawn(move || follow(&reader, tenant, from, &held)).map_err(|_| Problem::internal())?;
    tails.insert(tenant, Arc::downgrade(&tail));
    Ok(tail)
}

/// Reads the log as it grows and hands it on, as long as somebody listens.
fn follow(app: &App, tenant: TenantId, from: u64, held: &Weak<Tail>) {
    let mut after = from;
    let closing = app.closing();
    while held.strong_count() > 0 && !*closing.borrow() {
        let news = app.engine.backend.wait_events(tenant, after, WAIT);
        let batch = match news {
            Ok(last) if last > after => read(app, tenant, after),
            Ok(_) => continue,
            Err(error) => Err(Error::from(error).into()),
        };
        match (batch, held.upgrade()) {
            (Ok(batch), Some(tail)) => {
                after = batch.read_to;
                // Nobody listening just now is no failure: the next stream reads the log first.
                let _ = tail.sender.send(Arc::new(batch));
            }
            (Err(_), _) => std::thread::sleep(WAIT),
            (_, None) => return,
        }
    }
}
