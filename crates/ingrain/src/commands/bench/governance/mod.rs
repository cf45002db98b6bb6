//! `bench governance`: what the product promises about trust, walls and forgetting, checked on this very binary.

mod authority;
mod forgetting;
mod recall;
mod walls;
mod world;

use serde::Serialize;

use crate::assemble::Session;
use crate::commands::demo::Throwaway;
use crate::config::Config;
use crate::error::Failure;
use crate::output::{Output, Tone};
use world::World;

/// One promise: given, when, then.
struct Case {
    name: &'static str,
    given: &'static str,
    when: &'static str,
    then: &'static str,
    /// `Err` says what happened instead.
    check: fn(&World) -> Result<(), String>,
}

#[derive(Serialize)]
struct CaseReport {
    name: &'static str,
    given: &'static str,
    when: &'static str,
    then: &'static str,
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<String>,
}

#[derive(Serialize)]
struct Report {
    passed: usize,
    total: usize,
    cases: Vec<CaseReport>,
}

/// Runs every case in a tenant of its own on a throwaway database.
pub fn run(config: &Config, output: &Output) -> Result<(), Failure> {
    let place = Throwaway::new("governance")?;
    let config = place.config(config);
    let session = Session::open(&config)?;
    let cases = [walls::CASES, authority::CASES, forgetting::CASES, recall::CASES].concat();
    let mut report = Report { passed: 0, total: cases.len(), cases: Vec::new() };
    for case in cases {
        let world = World::new(&session, &config, case.name)?;
        let instead = (case.check)(&world).err();
        report.passed += usize::from(instead.is_none());
        let Case { name, given, when, then, .. } = case;
        report.cases.push(CaseReport { name, given, when, then, passed: instead.is_none(), instead });
    }
    session.close()?;
    output.answer(&report, || told(output, &report))?;
    if report.passed == report.total { Ok(()) } else { Err(Failure::Told(1)) }
}

impl Clone for Case {
    fn clone(&self) -> Case {
        Case { ..*self }
    }
}

fn told(output: &Output, report: &Report) -> String {
    let mut text = String::new();
    for case in &report.cases {
        let word = if case.passed { (Tone::Good, "holds") } else { (Tone::Bad, "BROKEN") };
        text += &format!("{} {}\n", output.paint(word.0, word.1), output.paint(Tone::Strong, case.name));
        text += &format!("  given {}, when {}, then {}\n", case.given, case.when, case.then);
        case.instead.iter().for_each(|instead| text += &format!("  instead: {instead}\n"));
    }
    text + &format!("{} of {}", report.passed, report.total)
}
