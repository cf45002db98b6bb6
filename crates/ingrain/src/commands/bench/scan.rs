//! `bench scan FILE…`: what the scanner catches of labelled corpora, what it holds up for nothing, and how fast it reads.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::safety::{self, Concern, Finding, RULES_VERSION, Strictness, Verdict};
use serde::{Deserialize, Serialize};

use super::measure::cpu_time;
use crate::error::Failure;
use crate::output::Output;

/// Texts of one kind are read again until this much CPU time is spent: far above what the clock can tell apart.
const MEASURED_AT_LEAST: Duration = Duration::from_millis(5);

/// A text and what should become of it.
#[derive(Deserialize)]
struct Labelled {
    text: String,
    /// 1: it must be caught.
    label: u8,
    /// What it is; the part before the first `/` is its family.
    kind: String,
    tier: String,
}

/// Texts that are told about together, by kind and tier.
type Groups = BTreeMap<(String, String), Vec<Labelled>>;

#[derive(Clone, Default, Serialize)]
struct Tally {
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
struct Report {
    bench: &'static str,
    rules_version: u32,
    /// CPU time of the first text that the process judges: the index and the patterns that the text asks for are built.
    start_up_ms: f64,
    by_tier: Vec<Tally>,
    by_kind: Vec<Tally>,
}

/// An operational note as people write them, with words that many rules look for.
const FIRST_NOTE: &str = "Runbook: drain the queue, then restart the billing worker with `kubectl rollout restart`. \
    The database password is in vault:kv/billing; deploys need an approval, always run the migration first. \
    Dashboards: https://grafana.example.com/d/billing. Escalate to the payments team when the error rate stays above 2 %.";

pub fn run(output: &Output, files: &[PathBuf]) -> Result<(), Failure> {
    let begun = cpu_time();
    drop(std::hint::black_box(safety::inspect(FIRST_NOTE)));
    let start_up_ms = cpu_time().saturating_sub(begun).as_secs_f64() * 1e3;
    let mut groups = Groups::new();
    for file in files {
        read(file, &mut groups)?;
    }
    let by_kind: Vec<Tally> =
        groups.into_iter().map(|((kind, tier), texts)| judged(&texts).named(&kind, &tier)).collect();
    let mut tiers: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
    for tally in &by_kind {
        tiers.entry((family(&tally.kind), &tally.tier)).or_default().add(tally);
    }
    let by_tier = tiers.into_iter().map(|((kind, tier), tally)| tally.named(kind, tier)).collect();
    let report = Report { bench: "scan", rules_version: RULES_VERSION, start_up_ms, by_tier, by_kind };
    output.answer(&report, || told(output, &report))
}

fn read(file: &Path, groups: &mut Groups) -> Result<(), Failure> {
    let name = file.display();
    let unreadable = |error| Failure::wrong("input.unreadable", format!("cannot read `{name}`: {error}"));
    let reader = BufReader::new(File::open(file).map_err(unreadable)?);
    for (at, line) in reader.lines().enumerate() {
        let line = line.map_err(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        // The parser's own words could quote the text.
        let odd = |_| {
            let message = format!("line {} of `{name}` has no text, label (0 or 1), kind and tier", at + 1);
            Failure::wrong("bench.line", message)
        };
        let row: Labelled = serde_json::from_str(&line).map_err(odd)?;
        groups.entry((row.kind.clone(), row.tier.clone())).or_default().push(row);
    }
    Ok(())
}

fn family(kind: &str) -> &str {
    kind.split('/').next().unwrap_or(kind)
}

fn judged(texts: &[Labelled]) -> Tally {
    let mut tally = Tally { texts: texts.len(), ..Tally::default() };
    for row in texts {
        let caught = caught(row, safety::inspect(&row.text));
        let (of_its_sort, right) = match row.label {
            0 => (&mut tally.must_pass, &mut tally.alarms),
            _ => (&mut tally.must_be_caught, &mut tally.caught),
        };
        *of_its_sort += 1;
        *right += usize::from(caught);
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
    Tally { secs: spent.as_secs_f64() / passes, ..tally }
}

/// A secret and a log must be blocked, a planted order at least flagged. What must be caught must be caught for what
/// it is; what must pass must not be held up by any rule.
fn caught(row: &Labelled, findings: Vec<Finding>) -> bool {
    let (concern, least) = match family(&row.kind) {
        "secret" | "benign" => (Some(Concern::Secret), Verdict::Blocked),
        "injection" | "benign_note" => (Some(Concern::Injection), Verdict::Flagged),
        "raw_log" => (Some(Concern::RawLog), Verdict::Blocked),
        _ => (None, Verdict::Blocked),
    };
    let concern = concern.filter(|_| row.label != 0);
    let told: Vec<Finding> =
        findings.into_iter().filter(|finding| concern.is_none_or(|concern| concern == finding.concern)).collect();
    safety::verdict(&told, Strictness::Strict) >= least
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.texts += other.texts;
        self.must_be_caught += other.must_be_caught;
        self.caught += other.caught;
        self.must_pass += other.must_pass;
        self.alarms += other.alarms;
        self.bytes += other.bytes;
        self.secs += other.secs;
    }

    /// With its name and the shares.
    fn named(self, kind: &str, tier: &str) -> Tally {
        let share = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
        Tally {
            kind: kind.to_owned(),
            tier: tier.to_owned(),
            recall: share(self.caught, self.must_be_caught),
            false_alarms: share(self.alarms, self.must_pass),
            mb_per_second: self.bytes as f64 / 1e6 / self.secs.max(f64::EPSILON),
            ..self
        }
    }

    fn is_right(&self) -> bool {
        self.caught == self.must_be_caught && self.alarms == 0
    }
}

fn told(output: &Output, report: &Report) -> String {
    let share = |share: Option<f64>, part: usize, of: usize| {
        share.map(|share| format!("{share:.3} ({part}/{of})")).unwrap_or_default()
    };
    let row = |tally: &Tally| {
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
    let mut told = output.table(&header, report.by_tier.iter().map(row));
    let wrong: Vec<&Tally> = report.by_kind.iter().filter(|tally| !tally.is_right()).collect();
    if !wrong.is_empty() {
        told += "\n\nnot all right:\n";
        told += &output.table(&header, wrong.into_iter().map(row));
    }
    format!("{told}\nrules version {}; the first note took {:.1} ms of CPU", report.rules_version, report.start_up_ms)
}
