//! `scan allow|allowed|disallow`: what the scanner lets through on purpose.

use clap::Subcommand;
use engine::tenant::allow_list::{AllowWhat, Allowed};
use serde_json::json;

use crate::commands::Job;
use crate::error::Failure;
use crate::output::Tone;
use crate::text::{moment, stdin};

#[derive(Debug, Subcommand)]
pub enum Deed {
    /// Let one exact value through, in this tenant, until a day; admins only
    Allow {
        /// SHA-256 of exactly what a rule found (`scan --json` says it)
        #[arg(long, value_name = "SHA256", required_unless_present = "text")]
        digest: Option<String>,
        /// A text in which the scanner finds one thing; `-` is stdin, which keeps it out of the shell's history
        #[arg(long, value_name = "TEXT", conflicts_with = "digest", allow_hyphen_values = true)]
        text: Option<String>,
        /// Why it may pass, for the list
        #[arg(long)]
        reason: String,
        /// Until when: a date, a time or a span (90d)
        #[arg(long, value_name = "TIME")]
        expires: String,
    },
    /// What is let through, newest first: why and until when, not what
    Allowed,
    /// Hold a value up again
    Disallow {
        /// Its digest, as `scan allowed` lists it
        #[arg(value_name = "DIGEST")]
        digest: String,
    },
}

impl Deed {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self {
            Deed::Allow { digest, text, reason, expires } => {
                let what = match (digest, text) {
                    (Some(digest), _) => AllowWhat::Digest(digest),
                    (None, Some(text)) if text == "-" => AllowWhat::Text(stdin()?),
                    (None, text) => AllowWhat::Text(text.unwrap_or_default()),
                };
                let expires_at = moment(&*engine.clock, &expires, true)?;
                let allowed = engine.allow(caller, &what, &reason, expires_at)?;
                told(job, "allowed", &allowed)?;
                if !job.output.json {
                    job.output.note("note: saves pass with it, and `ingrain scan --allowed`; `ingrain scan` goes by the rules alone");
                }
                Ok(())
            }
            Deed::Allowed => {
                let allowed = engine.allowed(caller)?;
                job.output.answer(&json!({ "allowed": allowed }), || {
                    let now = engine.clock.now();
                    let row = |allowed: &Allowed| {
                        let over = if allowed.expires_at <= now { " (over)" } else { "" };
                        let until = format!("{}{over}", allowed.expires_at);
                        vec![allowed.digest.clone(), until, allowed.by.clone(), allowed.reason.clone()]
                    };
                    job.output.table(&["digest", "until", "by", "why"], allowed.iter().map(row))
                })
            }
            Deed::Disallow { digest } => told(job, "disallowed", &engine.disallow(caller, &digest)?),
        }
    }
}

fn told(job: &Job<'_>, status: &str, allowed: &Allowed) -> Result<(), Failure> {
    job.output.answer(&json!({ "status": status, "allowed": allowed }), || {
        format!("{} {} until {}", job.output.paint(Tone::Good, status), allowed.digest, allowed.expires_at)
    })
}
