//! `scan allow|allowed|disallow`: the tenant's list of values that the scanner lets pass.

use clap::Subcommand;
use engine::safety::Concern;
use engine::tenant::allow_list::{AllowTarget, AllowedValue};
use serde_json::json;

use crate::commands::Job;
use crate::error::Failure;
use crate::output::Tone;
use crate::text_io::{parse_time, read_stdin};

#[derive(Debug, Subcommand)]
pub enum AllowlistCommand {
    /// Allow one exact secret, or one whole text with instructions, in this tenant until a date (admins only)
    Allow {
        /// SHA-256 of the exact text that a rule found, as `scan --json` prints it
        #[arg(long, value_name = "SHA256", required_unless_present = "text")]
        digest: Option<String>,
        /// Text with one secret, or with planted instructions; `-` reads stdin, which keeps it out of the shell history
        #[arg(long, value_name = "TEXT", conflicts_with = "digest", allow_hyphen_values = true)]
        text: Option<String>,
        /// Field in which a whole text with planted instructions may stand: content (default), title, tags …
        #[arg(long, value_name = "FIELD", requires = "text")]
        field: Option<String>,
        /// Reason, shown by `scan allowed`
        #[arg(long)]
        reason: String,
        /// End of the permission: a date, a time or a span from now (90d)
        #[arg(long, value_name = "TIME")]
        expires: String,
    },
    /// List allowed values, newest first: digest, end and reason, not the text
    Allowed,
    /// Stop allowing a value
    Disallow {
        /// Digest of the value, as `scan allowed` lists it
        #[arg(value_name = "DIGEST")]
        digest: String,
    },
}

impl AllowlistCommand {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self {
            AllowlistCommand::Allow { digest, text, field, reason, expires } => {
                let what = match (digest, text) {
                    (Some(digest), _) => AllowTarget::Digest(digest),
                    (None, Some(text)) if text == "-" => AllowTarget::Text { text: read_stdin()?, field },
                    // clap asks for one of the two already, so the default is never used.
                    (None, text) => AllowTarget::Text { text: text.unwrap_or_default(), field },
                };
                let expires_at = parse_time(&*engine.clock, &expires, true)?;
                let allowed = engine.allow(caller, &what, &reason, expires_at)?;
                print_allowed(job, "allowed", &allowed)?;
                // People try `scan` next, and would think that the permission failed.
                if !job.output.json {
                    job.output.print_note(
                        "note: saves and `ingrain scan --allowed` now accept it; `ingrain scan` ignores the allow list",
                    );
                }
                Ok(())
            }
            AllowlistCommand::Allowed => {
                let allowed = engine.allowed_values(caller)?;
                job.output.print_answer(&json!({ "allowed": allowed }), || {
                    let now = engine.clock.now();
                    let row = |allowed: &AllowedValue| {
                        let over = if allowed.expires_at <= now { " (expired)" } else { "" };
                        let until = format!("{}{over}", allowed.expires_at);
                        vec![
                            allowed.digest.clone(),
                            describe_binding(allowed),
                            until,
                            allowed.by.clone(),
                            allowed.reason.clone(),
                        ]
                    };
                    job.output.render_table(&["digest", "allows", "until", "by", "why"], allowed.iter().map(row))
                })
            }
            AllowlistCommand::Disallow { digest } => {
                print_allowed(job, "disallowed", &engine.disallow(caller, &digest)?)
            }
        }
    }
}

/// What an entry lets pass. Entries of version 0.1 do not say whether they were secrets or planted orders.
fn describe_binding(allowed: &AllowedValue) -> String {
    match (allowed.concern, &allowed.field) {
        (Some(Concern::Injection), Some(field)) => format!("one whole text in {field}"),
        (Some(_), _) => "a value".to_owned(),
        (None, _) => "a secret value; a planted instruction must be allowed again".to_owned(),
    }
}

fn print_allowed(job: &Job<'_>, status: &str, allowed: &AllowedValue) -> Result<(), Failure> {
    job.output.print_answer(&json!({ "status": status, "allowed": allowed }), || {
        format!("{} {} until {}", job.output.paint(Tone::Good, status), allowed.digest, allowed.expires_at)
    })
}
