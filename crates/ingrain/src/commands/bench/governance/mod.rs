//! `bench governance`: checks the guarantees on trust, isolation and forgetting with this binary.

mod authority;
mod case_tenant;
mod forgetting;
mod isolation;
mod recall;

use serde::Serialize;

use crate::assemble::Session;
use crate::commands::temp_home::TempHome;
use crate::config::Config;
use crate::error::Failure;
use crate::output::{Output, Tone};
use case_tenant::CaseTenant;

/// One guarantee as given, when, then.
struct Case {
    name: &'static str,
    given: &'static str,
    when: &'static str,
    then: &'static str,
    /// `Err` describes what happened instead.
    check: fn(&CaseTenant) -> Result<(), String>,
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
struct GovernanceReport {
    passed: usize,
    total: usize,
    cases: Vec<CaseReport>,
}

/// Runs every case in its own tenant of a temporary database.
pub fn run(config: &Config, output: &Output) -> Result<(), Failure> {
    let place = TempHome::new("governance")?;
    let config = place.redirect_config(config);
    let session = Session::open(&config)?;
    // A failed case does not stop the others.
    let cases = [isolation::CASES, authority::CASES, forgetting::CASES, recall::CASES].concat();
    let mut report = GovernanceReport { passed: 0, total: cases.len(), cases: Vec::new() };
    for case in cases {
        let world = CaseTenant::new(&session, &config, case.name)?;
        let instead = (case.check)(&world).err();
        report.passed += usize::from(instead.is_none());
        let Case { name, given, when, then, .. } = case;
        report.cases.push(CaseReport { name, given, when, then, passed: instead.is_none(), instead });
    }
    session.close()?;
    output.print_answer(&report, || render_report(output, &report))?;
    if report.passed == report.total { Ok(()) } else { Err(Failure::AlreadyReported(1)) }
}

impl Clone for Case {
    fn clone(&self) -> Case {
        Case { ..*self }
    }
}

fn render_report(output: &Output, report: &GovernanceReport) -> String {
    let mut text = String::new();
    for case in &report.cases {
        let word = if case.passed { (Tone::Good, "holds") } else { (Tone::Bad, "BROKEN") };
        text += &format!("{} {}\n", output.paint(word.0, word.1), output.paint(Tone::Strong, case.name));
        text += &format!("  given {}, when {}, then {}\n", case.given, case.when, case.then);
        case.instead.iter().for_each(|instead| text += &format!("  instead: {instead}\n"));
    }
    text + &format!("{} of {}", report.passed, report.total)
}
