//! `bench scan`: recall, false alarms and speed of the scanner on labelled texts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::safety::{self, Concern, Finding, RULES_VERSION, ScanVerdict, Strictness};
use serde::{Deserialize, Serialize};

use super::measure::cpu_time;
use crate::error::Failure;
use crate::output::Output;

/// Texts of one kind are scanned repeatedly for at least this CPU time, far above the resolution of the clock.
const MEASURED_AT_LEAST: Duration = Duration::from_millis(5);

/// A text and the expected verdict.
#[derive(Deserialize)]
struct LabelledText {
    text: String,
    /// 1 if the scanner must catch it, 0 if it must pass.
    label: u8,
    /// Kind of text; the part before the first `/` is its family.
    kind: String,
    tier: String,
}

/// Texts grouped by kind and tier.
type TextGroups = BTreeMap<(String, String), Vec<LabelledText>>;

#[derive(Clone, Default, Serialize)]
struct ScanTally {
    kind: String,
    tier: String,
    texts: usize,
    must_be_caught: usize,
    caught: usize,
    /// Caught texts as a share of those that must be caught.
    recall: Option<f64>,
    must_pass: usize,
    alarms: usize,
    /// False alarms as a share of the texts that must pass.
    false_alarms: Option<f64>,
    bytes: usize,
    mb_per_second: f64,
    #[serde(skip)]
    secs: f64,
}

#[derive(Serialize)]
struct ScanReport {
    bench: &'static str,
    rules_version: u32,
    /// CPU time of the first scan in the process, which builds the index and the needed patterns.
    start_up_ms: f64,
    by_tier: Vec<ScanTally>,
    by_kind: Vec<ScanTally>,
}

/// Operational note with words that many rules look for, for the first scan.
const FIRST_NOTE: &str = "Runbook: drain the queue, then restart the billing worker with `kubectl rollout restart`. \
    The database password is in vault:kv/billing; deploys need an approval, always run the migration first. \
    Dashboards: https://grafana.example.com/d/billing. \
    Escalate to the payments team when the error rate stays above 2 %.";

pub fn run(output: &Output, files: &[PathBuf]) -> Result<(), Failure> {
    let begun = cpu_time();
    // First scan of this process, before any text is read.
    drop(std::hint::black_box(safety::inspect(FIRST_NOTE)));
    let start_up_ms = cpu_time().saturating_sub(begun).as_secs_f64() * 1e3;
    let mut groups = TextGroups::new();
    for file in files {
        read_labelled_file(file, &mut groups)?;
    }
    let by_kind: Vec<ScanTally> =
        groups.into_iter().map(|((kind, tier), texts)| measure_group(&texts).with_shares(&kind, &tier)).collect();
    let mut tiers: BTreeMap<(&str, &str), ScanTally> = BTreeMap::new();
    for tally in &by_kind {
        tiers.entry((kind_family(&tally.kind), &tally.tier)).or_default().add(tally);
    }
    // Totals by family and tier, computed from the sums and not from the shares.
    let by_tier = tiers.into_iter().map(|((kind, tier), tally)| tally.with_shares(kind, tier)).collect();
    let report = ScanReport { bench: "scan", rules_version: RULES_VERSION, start_up_ms, by_tier, by_kind };
    output.print_answer(&report, || render_report(output, &report))
}

fn read_labelled_file(file: &Path, groups: &mut TextGroups) -> Result<(), Failure> {
    let name = file.display();
    let unreadable = |error: std::io::Error| Failure::unreadable_input(&name, &error);
    let reader = BufReader::new(File::open(file).map_err(unreadable)?);
    for (at, line) in reader.lines().enumerate() {
        let line = line.map_err(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        // The parser's message could quote the text, which may be a secret.
        let odd = |_| {
            let message = format!("line {} of `{name}` has no text, label (0 or 1), kind and tier", at + 1);
            Failure::user_error("bench.line", message)
        };
        let row: LabelledText = serde_json::from_str(&line).map_err(odd)?;
        groups.entry((row.kind.clone(), row.tier.clone())).or_default().push(row);
    }
    Ok(())
}

fn kind_family(kind: &str) -> &str {
    kind.split('/').next().unwrap_or(kind)
}

fn measure_group(texts: &[LabelledText]) -> ScanTally {
    let mut tally = ScanTally { texts: texts.len(), ..ScanTally::default() };
    for row in texts {
        let caught = is_caught(row, safety::inspect(&row.text));
        let (expected, caught_count) = match row.label {
            0 => (&mut tally.must_pass, &mut tally.alarms),
            _ => (&mut tally.must_be_caught, &mut tally.caught),
        };
        *expected += 1;
        *caught_count += usize::from(caught);
        tally.bytes += row.text.len();
    }
    // All texts were scanned once above, so that building the patterns is not measured.
    let (begun, mut passes) = (cpu_time(), 0.0);
    let mut spent = Duration::ZERO;
    while spent < MEASURED_AT_LEAST {
        texts.iter().for_each(|row| drop(std::hint::black_box(safety::inspect(&row.text))));
        passes += 1.0;
        spent = cpu_time().saturating_sub(begun);
    }
    ScanTally { secs: spent.as_secs_f64() / passes, ..tally }
}

/// Whether the scanner caught the text. Secrets and logs must be blocked, planted instructions at least flagged. For
/// texts that must be caught only findings of their own concern count; for the others any finding is a false alarm.
fn is_caught(row: &LabelledText, findings: Vec<Finding>) -> bool {
    let (concern, least) = match kind_family(&row.kind) {
        "secret" | "benign" => (Some(Concern::Secret), ScanVerdict::Blocked),
        "injection" | "benign_note" => (Some(Concern::Injection), ScanVerdict::Flagged),
        "raw_log" => (Some(Concern::RawLog), ScanVerdict::Blocked),
        _ => (None, ScanVerdict::Blocked),
    };
    let concern = concern.filter(|_| row.label != 0);
    let relevant: Vec<Finding> =
        findings.into_iter().filter(|finding| concern.is_none_or(|concern| concern == finding.concern)).collect();
    safety::decide_verdict(&relevant, Strictness::Strict) >= least
}

impl ScanTally {
    fn add(&mut self, other: &ScanTally) {
        self.texts += other.texts;
        self.must_be_caught += other.must_be_caught;
        self.caught += other.caught;
        self.must_pass += other.must_pass;
        self.alarms += other.alarms;
        self.bytes += other.bytes;
        self.secs += other.secs;
    }

    /// Sets the name and computes the shares.
    fn with_shares(self, kind: &str, tier: &str) -> ScanTally {
        let share = |part: usize, total: usize| (total > 0).then(|| part as f64 / total as f64);
        ScanTally {
            kind: kind.to_owned(),
            tier: tier.to_owned(),
            recall: share(self.caught, self.must_be_caught),
            false_alarms: share(self.alarms, self.must_pass),
            mb_per_second: self.bytes as f64 / 1e6 / self.secs.max(f64::EPSILON),
            ..self
        }
    }

    fn has_no_errors(&self) -> bool {
        self.caught == self.must_be_caught && self.alarms == 0
    }
}

fn render_report(output: &Output, report: &ScanReport) -> String {
    let share = |share: Option<f64>, part: usize, total: usize| {
        share.map(|share| format!("{share:.3} ({part}/{total})")).unwrap_or_default()
    };
    let row = |tally: &ScanTally| {
        vec![
            tally.kind.clone(),
            tally.tier.clone(),
            tally.texts.to_string(),
            share(tally.recall, tally.caught, tally.must_be_caught),
            share(tally.false_alarms, tally.alarms, tally.must_pass),
            format!("{:.1}", tally.mb_per_second),
        ]
    };
    let header = ["kind", "tier", "texts", "recall", "false alarms", "MB/s of CPU"];
    let mut text = output.render_table(&header, report.by_tier.iter().map(row));
    let wrong: Vec<&ScanTally> = report.by_kind.iter().filter(|tally| !tally.has_no_errors()).collect();
    if !wrong.is_empty() {
        text += "\n\nkinds with errors:\n";
        text += &output.render_table(&header, wrong.into_iter().map(row));
    }
    format!("{text}\nrules version {}; the first scan took {:.1} ms of CPU", report.rules_version, report.start_up_ms)
}
