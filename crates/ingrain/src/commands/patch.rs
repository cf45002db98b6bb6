//! `patch`: new content for a memory that is still what you read.

use std::path::PathBuf;

use clap::Args;
use engine::{Patch as Change, Patched};

use crate::commands::Job;
use crate::commands::read::Which;
use crate::commands::remember::Proof;
use crate::error::Failure;
use crate::output::Tone;
use crate::text::content;
use crate::view::DoneView;

#[derive(Debug, Args)]
pub struct Patch {
    #[command(flatten)]
    which: Which,
    /// The new content; `-` reads stdin
    content: Option<String>,
    /// Read the new content from a file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The sha256 of the content you read
    #[arg(long, value_name = "SHA256")]
    expect: String,
    #[arg(long, help = "Why, for the history")]
    reason: Option<String>,
    #[command(flatten)]
    proof: Proof,
}

impl Patch {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let caller = &job.session.caller;
        let change = Change {
            memory: self.which.id(job)?,
            expected_sha256: self.expect,
            content: content(self.content.as_deref(), self.file.as_deref())?,
            summary: self.reason,
            evidence: self.proof.pieces(caller),
        };
        match job.session.engine.patch(caller, change)? {
            Patched::Refused(refusal) => Err(refusal.into()),
            Patched::Saved(memory) => job.output.answer(&DoneView::new("patched", &memory), || {
                let word = job.output.paint(Tone::Good, "patched");
                format!("{word} {}, version {}\n  sha256  {}", memory.id, memory.version_number, memory.sha256)
            }),
        }
    }
}
