//! `bench scan FILE…`: what the scanner catches of labelled corpora, what it holds up for nothing, and how fast it reads.

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

/// Texts of one kind are read again until this much CPU time is spent: far above what the clock can tell apart.
const MEASURED_AT_LEAST: Duration = Duration::from_millis(5);

/// A text and what should become of it.
#[derive(Deserialize)]
struct LabelledText {
    text: String,
    /// 1: it must be caught.
    label: u8,
    /// What it is; the part before the first `/` is its family.
    kind: String,
    tier: String,
}

/// Texts that are told about together, by kind and tier.
type TextGroups = BTreeMap<(String, String), Vec<LabelledText>>;

#[derive(Clone, Default, Serialize)]
struct ScanTally {
    kind: String,
    tier: String,
    texts: usize,
    must_be_caught: usize,
    caught: usize,
    /// Share of what must be caught that was.
    recall: Option<f64>,
    must_pass: usize,
    alarms: usize,
    /// Share of what must pass that did not.
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
    /// CPU time of the first text that the process judges: the index and the patterns that the text asks for are built.
    start_up_ms: f64,
    by_tier: Vec<ScanTally>,
    by_kind: Vec<ScanTally>,
}

/// An operational note as people write them, with words that many rules look for.
const FIRST_NOTE: &str = "Runbook: drain the queue, then restart the billing worker with `kubectl rollout restart`. \
    The database password is in vault:kv/billing; deploys need an approval, always run the migration first. \
    Dashboards: https://grafana.example.com/d/billing. Escalate to the payments team when the error rate stays above 2 %.";

pub fn run(output: &Output, files: &[PathBuf]) -> Result<(), Failure> {
    let begun = cpu_time();
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
        // The parser's own words could quote the text.
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
    // Judged once already, so that building what the rules need is not measured.
    let (begun, mut passes) = (cpu_time(), 0.0);
    let mut spent = Duration::ZERO;
    while spent < MEASURED_AT_LEAST {
        texts.iter().for_each(|row| drop(std::hint::black_box(safety::inspect(&row.text))));
        passes += 1.0;
        spent = cpu_time().saturating_sub(begun);
    }
    ScanTally { secs: spent.as_secs_f64() / passes, ..tally }
}

/// A secret and a log must be blocked, a planted order at least flagged. What must be caught must be caught for what
/// it is; what must pass must not be held up by any rule.
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

    /// With its name and the shares.
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
        text += "\n\nnot all right:\n";
        text += &output.render_table(&header, wrong.into_iter().map(row));
    }
    format!("{text}\nrules version {}; the first note took {:.1} ms of CPU", report.rules_version, report.start_up_ms)
}
