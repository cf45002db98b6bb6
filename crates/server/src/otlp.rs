//! Spans for an OpenTelemetry collector: OTLP over HTTP with JSON, written by hand because it is one document. Spans
//! hold names and ids, never content.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use engine::ports::Clock;
use engine::text::digest::to_hex;
use jiff::Timestamp;
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::config::ServerConfig;
use crate::outbound::OutboundClient;

/// Most spans waiting to be sent. If the collector is down, the newest are dropped; the server never waits.
const QUEUED_SPANS_MAX: usize = 4_096;
/// Most spans in one request, and the longest time a span waits for it to fill.
const BATCH_MAX: usize = 512;
const BATCH_SECS: u64 = 2;

/// A tracing layer that sends finished spans to the configured collector.
pub struct Otlp {
    sender: SyncSender<Value>,
    clock: Arc<dyn Clock>,
}

/// Data of an open span.
struct OpenSpan {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    parent_span_id: Option<[u8; 8]>,
    started_at: Timestamp,
    timer: Instant,
    fields: SpanFields,
}

impl Otlp {
    /// The layer, if a collector is configured. A thread of its own sends the spans.
    pub fn new(config: &ServerConfig, clock: Arc<dyn Clock>) -> std::io::Result<Option<Otlp>> {
        if config.otlp_endpoint.is_empty() {
            return Ok(None);
        }
        let (sender, receiver) = sync_channel(QUEUED_SPANS_MAX);
        let url = format!("{}/v1/traces", config.otlp_endpoint.trim_end_matches('/'));
        let outbound = OutboundClient::new(config.private_endpoints);
        let thread = std::thread::Builder::new().name("ingrain-otlp".to_owned());
        thread.spawn(move || send_batches(&receiver, &outbound, &url))?;
        Ok(Some(Otlp { sender, clock }))
    }
}

/// Sends batches until the layer is dropped.
fn send_batches(spans: &Receiver<Value>, outbound: &OutboundClient, url: &str) {
    const WAIT: Duration = Duration::from_secs(BATCH_SECS);
    let mut batch = Vec::new();
    // Measured from the first span of the batch: with a slow trickle it would otherwise wait until it is full.
    let mut since: Option<Instant> = None;
    loop {
        let next = spans.recv_timeout(since.map_or(WAIT, |since| WAIT.saturating_sub(since.elapsed())));
        let over = matches!(next, Err(RecvTimeoutError::Disconnected));
        if let Ok(span) = next {
            since.get_or_insert_with(Instant::now);
            batch.push(span);
        }
        let due = over || since.is_some_and(|since| since.elapsed() >= WAIT);
        if batch.len() >= BATCH_MAX || (due && !batch.is_empty()) {
            // Errors are not logged: the log line would belong to a span, which would fail to be sent too.
            let _ = outbound.post_document(url, &trace_document(&batch));
            batch.clear();
            since = None;
        }
        if over {
            return;
        }
    }
}

fn trace_document(spans: &[Value]) -> Value {
    let service = json!([
        { "key": "service.name", "value": { "stringValue": "ingrain" } },
        { "key": "service.version", "value": { "stringValue": env!("CARGO_PKG_VERSION") } },
    ]);
    json!({ "resourceSpans": [{
        "resource": { "attributes": service },
        "scopeSpans": [{ "scope": { "name": "ingrain" }, "spans": spans }],
    }] })
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Otlp {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        // Only spans of level info and above are sent.
        let Some(span) = context.span(id).filter(|span| *span.metadata().level() <= Level::INFO) else { return };
        let mut fields = SpanFields::default();
        attributes.record(&mut fields);
        let parent = span.parent();
        let extensions = parent.as_ref().map(|parent| parent.extensions());
        let above = extensions.as_ref().and_then(|extensions| extensions.get::<OpenSpan>());
        let (trace, parent_span) = match above {
            Some(open) => (open.trace_id, Some(open.span_id)),
            None => (random_bytes(), None),
        };
        let open = OpenSpan {
            trace_id: trace,
            span_id: random_bytes(),
            parent_span_id: parent_span,
            started_at: self.clock.now(),
            timer: Instant::now(),
            fields,
        };
        // The borrow of the parent must end before the extensions of the child are locked.
        drop(extensions);
        span.extensions_mut().insert(open);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            values.record(&mut open.fields);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(open) = span.extensions_mut().remove::<OpenSpan>() {
            // A full queue drops the span instead of blocking the request.
            let _ = self.sender.try_send(open.to_otlp_span(span.name()));
        }
    }
}

impl OpenSpan {
    fn to_otlp_span(self, name: &str) -> Value {
        const SERVER: u32 = 2;
        const INTERNAL: u32 = 1;
        let begun = self.started_at.as_nanosecond();
        // The end is computed from a monotonic timer: the wall clock may jump while the span is open.
        let ended = begun + i128::try_from(self.timer.elapsed().as_nanos()).unwrap_or_default();
        let word =
            |key: &str| self.fields.0.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.as_str());
        let kind = if word("otel.kind") == Some("server") { SERVER } else { INTERNAL };
        let to_attribute = |(name, value): &(&str, Value)| json!({ "key": name, "value": to_otlp_value(value) });
        // `otel.*` fields set name and kind; they are no attributes.
        let attributes = self.fields.0.iter().filter(|(name, _)| !name.starts_with("otel."));
        json!({
            "traceId": to_hex(&self.trace_id), "spanId": to_hex(&self.span_id),
            "parentSpanId": self.parent_span_id.map(|parent| to_hex(&parent)).unwrap_or_default(),
            "name": word("otel.name").unwrap_or(name), "kind": kind, "startTimeUnixNano": begun.to_string(),
            "endTimeUnixNano": ended.to_string(),
            "attributes": attributes.map(to_attribute).collect::<Vec<_>>(),
        })
    }
}

fn to_otlp_value(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!({ "boolValue": value }),
        Value::Number(value) if value.is_f64() => json!({ "doubleValue": value }),
        // OTLP in JSON writes 64-bit integers as strings.
        Value::Number(value) => json!({ "intValue": value.to_string() }),
        Value::String(value) => json!({ "stringValue": value }),
        other => json!({ "stringValue": other.to_string() }),
    }
}

fn random_bytes<const N: usize>() -> [u8; N] {
    use ring::rand::{SecureRandom, SystemRandom};
    let mut bytes = [0; N];
    // On failure the id stays zero, which means "invalid" in OpenTelemetry: the collector drops the span.
    let _ = SystemRandom::new().fill(&mut bytes);
    bytes
}

/// Fields of a span by name.
#[derive(Default)]
struct SpanFields(Vec<(&'static str, Value)>);

impl SpanFields {
    fn set_field(&mut self, field: &Field, value: Value) {
        // A field recorded again replaces its earlier value.
        self.0.retain(|(name, _)| *name != field.name());
        self.0.push((field.name(), value));
    }
}

impl Visit for SpanFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set_field(field, value.into());
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set_field(field, value.into());
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set_field(field, value.into());
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set_field(field, value.into());
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set_field(field, value.into());
    }
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.set_field(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::telemetry;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
        fn fresh_id(&self) -> uuid::Uuid {
            uuid::Uuid::nil()
        }
    }

    #[test]
    fn a_search_is_a_span_in_the_words_of_the_conventions() {
        let (sender, receiver) = sync_channel(8);
        let subscriber = tracing_subscriber::registry().with(Otlp { sender, clock: Arc::new(Noon) });
        tracing::subscriber::with_default(subscriber, || {
            let span = telemetry::request_span("r-1", "POST", "/v1/search", "search");
            span.in_scope(|| {
                telemetry::record_hit_count(3);
                telemetry::tool_span("memory_search").in_scope(|| {});
            });
        });
        let (tool, request) = (receiver.recv().expect("a span"), receiver.recv().expect("a span"));
        assert_eq!((&tool["traceId"], &tool["parentSpanId"]), (&request["traceId"], &request["spanId"]));
        assert_eq!((&request["name"], &request["kind"]), (&json!("search_memory"), &json!(2)));
        let attribute = |key: &str| {
            let all = request["attributes"].as_array().cloned().unwrap_or_default();
            all.into_iter().find(|attribute| attribute["key"] == key).map(|attribute| attribute["value"].clone())
        };
        assert_eq!(attribute("gen_ai.operation.name"), Some(json!({ "stringValue": "search_memory" })));
        assert_eq!(attribute("gen_ai.memory.record.count"), Some(json!({ "intValue": "3" })));
        assert_eq!(attribute("gen_ai.memory.store.id"), None);
        assert_eq!(
            trace_document(&[request])["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().map(Vec::len),
            Some(1)
        );
    }
}
