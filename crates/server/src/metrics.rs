//! Metrics in the Prometheus text format.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::model::id::TenantId;

use crate::lock::lock_unpoisoned;

/// Upper bounds of the latency buckets, in seconds: from an index look-up to the request timeout.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Counters since the start of the process.
#[derive(Default)]
pub(crate) struct Metrics {
    verbs: Mutex<BTreeMap<&'static str, Histogram>>,
    /// By the tenant of the caller; `None`: before the caller was known, or nobody in particular.
    answers: Mutex<HashMap<Option<TenantId>, AnswerCounts>>,
    turned_away: AtomicU64,
    streams: AtomicU64,
    streams_dropped: AtomicU64,
    failed_credentials: AtomicU64,
}

/// Answers by verb and status, and problems by code.
#[derive(Clone, Default)]
struct AnswerCounts {
    answers: BTreeMap<(&'static str, u16), u64>,
    refusals: BTreeMap<String, u64>,
}

impl AnswerCounts {
    fn add(&mut self, other: &AnswerCounts) {
        for (answer, count) in &other.answers {
            *self.answers.entry(*answer).or_default() += count;
        }
        for (code, count) in &other.refusals {
            *self.refusals.entry(code.clone()).or_default() += count;
        }
    }
}

/// Extension of a response: the tenant of its caller.
#[derive(Clone, Copy)]
pub(crate) struct AnsweredTenant(pub(crate) TenantId);

#[derive(Clone, Default)]
struct Histogram {
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

/// Values measured when the page is rendered.
pub(crate) struct Gauges {
    pub(crate) queue_depth: usize,
    pub(crate) running: usize,
    pub(crate) memories: u64,
    pub(crate) bytes: u64,
    /// Scanner rule, verdict on the save, count.
    pub(crate) findings: Vec<(String, &'static str, u64)>,
}

impl Metrics {
    /// Counts one engine call and its duration.
    pub(crate) fn record_call(&self, verb: &'static str, took: Duration) {
        let mut verbs = lock_unpoisoned(&self.verbs);
        let histogram = verbs.entry(verb).or_default();
        let secs = took.as_secs_f64();
        histogram.count += 1;
        histogram.sum += secs;
        // Slower calls are in no bucket; they count in `+Inf` by the total.
        if let Some(bucket) = BUCKETS.iter().position(|bound| secs <= *bound) {
            histogram.counts[bucket] += 1;
        }
    }

    /// Counts one HTTP answer, and its problem code.
    pub(crate) fn record_answer(&self, tenant: Option<TenantId>, verb: &'static str, status: u16, code: Option<&str>) {
        let mut answers = lock_unpoisoned(&self.answers);
        let counts = answers.entry(tenant).or_default();
        *counts.answers.entry((verb, status)).or_default() += 1;
        if let Some(code) = code {
            *counts.refusals.entry(code.to_owned()).or_default() += 1;
        }
    }

    pub(crate) fn record_turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn record_failed_credential(&self) {
        self.failed_credentials.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a stream as open until [`Metrics::close_stream`]; `false` if too many are open.
    pub(crate) fn try_open_stream(&self, streams_max: usize) -> bool {
        let open = self.streams.fetch_add(1, Ordering::Relaxed);
        if open >= streams_max as u64 {
            self.streams.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    pub(crate) fn close_stream(&self) {
        self.streams.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn record_dropped_stream(&self) {
        self.streams_dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// The page Prometheus reads, for the admin of one tenant: nothing that others do shows in it.
    pub(crate) fn render_tenant_page(&self, tenant: TenantId, live_memories: u64) -> String {
        let mut page = String::new();
        let counts = lock_unpoisoned(&self.answers).get(&Some(tenant)).cloned().unwrap_or_default();
        render_answers(&mut page, counts);
        write_metric_head(&mut page, "ingrain_memories", "gauge", "Memories of this tenant in use.");
        let _ = writeln!(page, "ingrain_memories {live_memories}");
        page
    }

    /// The page Prometheus reads, for operators: the whole installation.
    pub(crate) fn render_page(&self, gauges: &Gauges) -> String {
        let mut page = String::new();
        self.render_histograms(&mut page);
        let mut counts = AnswerCounts::default();
        lock_unpoisoned(&self.answers).values().for_each(|of_tenant| counts.add(of_tenant));
        render_answers(&mut page, counts);
        let name = "ingrain_scanner_findings_total";
        write_metric_head(&mut page, name, "counter", "Findings of the scanner in saves, by rule and verdict.");
        for (rule, verdict, count) in &gauges.findings {
            let _ = writeln!(page, "{name}{{rule=\"{rule}\",verdict=\"{verdict}\"}} {count}");
        }
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (name, kind, help, value) in [
            (
                "ingrain_turned_away_total",
                "counter",
                "Calls refused because the queue was full.",
                read(&self.turned_away),
            ),
            ("ingrain_failed_credentials_total", "counter", "Invalid keys and tokens.", read(&self.failed_credentials)),
            (
                "ingrain_streams_dropped_total",
                "counter",
                "Event streams closed because the client was too slow.",
                read(&self.streams_dropped),
            ),
            ("ingrain_streams", "gauge", "Open event streams.", read(&self.streams)),
            ("ingrain_queue_depth", "gauge", "Calls waiting for a permit.", gauges.queue_depth as u64),
            ("ingrain_running", "gauge", "Calls inside the engine.", gauges.running as u64),
            ("ingrain_memories", "gauge", "Stored memories, in every state.", gauges.memories),
            ("ingrain_store_bytes", "gauge", "Size of the database.", gauges.bytes),
        ] {
            write_metric_head(&mut page, name, kind, help);
            let _ = writeln!(page, "{name} {value}");
        }
        page
    }

    fn render_histograms(&self, page: &mut String) {
        let verbs = lock_unpoisoned(&self.verbs).clone();
        let name = "ingrain_verb_seconds";
        write_metric_head(page, name, "histogram", "Time inside the engine, by verb.");
        for (verb, histogram) in verbs {
            // Prometheus buckets are cumulative: each counts all calls up to its bound.
            let mut below = 0;
            for (bound, count) in BUCKETS.iter().zip(histogram.counts) {
                below += count;
                let _ = writeln!(page, "{name}_bucket{{verb=\"{verb}\",le=\"{bound}\"}} {below}");
            }
            let _ = writeln!(page, "{name}_bucket{{verb=\"{verb}\",le=\"+Inf\"}} {}", histogram.count);
            let _ = writeln!(page, "{name}_sum{{verb=\"{verb}\"}} {}", histogram.sum);
            let _ = writeln!(page, "{name}_count{{verb=\"{verb}\"}} {}", histogram.count);
        }
    }
}

fn render_answers(page: &mut String, counts: AnswerCounts) {
    write_metric_head(page, "ingrain_answers_total", "counter", "Answers by verb and status.");
    for ((verb, status), count) in counts.answers {
        let _ = writeln!(page, "ingrain_answers_total{{verb=\"{verb}\",status=\"{status}\"}} {count}");
    }
    write_metric_head(page, "ingrain_refusals_total", "counter", "Calls answered with a problem, by code.");
    for (code, count) in counts.refusals {
        let _ = writeln!(page, "ingrain_refusals_total{{code=\"{code}\"}} {count}");
    }
}

fn write_metric_head(page: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
