//! `patch`: replaces the content of a memory, guarded by the SHA-256 of the content that was read.

use std::path::PathBuf;

use clap::Args;
use engine::{Patch, PatchOutcome};

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::commands::remember::EvidenceArgs;
use crate::error::Failure;
use crate::json_views::{ProposedPatchView, StatusView};
use crate::output::Tone;
use crate::text_io::read_content;

#[derive(Debug, Args)]
pub struct PatchArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    /// New content; `-` reads stdin
    content: Option<String>,
    /// File with the new content
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// SHA-256 of the content you read
    #[arg(long, value_name = "SHA256")]
    expect: String,
    #[arg(long, help = "Reason, kept in the history")]
    reason: Option<String>,
    #[command(flatten)]
    evidence: EvidenceArgs,
}

impl PatchArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let caller = &job.session.caller;
        let patch = Patch {
            memory: self.reference.resolve_id(job)?,
            expected_sha256: self.expect,
            content: read_content(self.content.as_deref(), self.file.as_deref())?,
            summary: self.reason,
            evidence: self.evidence.into_evidence(caller),
        };
        match job.session.engine.patch(caller, patch)? {
            PatchOutcome::Refused(refusal) => Err(refusal.into()),
            PatchOutcome::Proposed(saved) => {
                let (memory, review) = (&saved.memory, saved.review.map(|review| review.to_string()));
                let view = ProposedPatchView {
                    saved: StatusView::new("proposed", memory),
                    review: review.as_deref(),
                    warnings: &saved.warnings,
                };
                job.output.print_answer(&view, || {
                    let word = job.output.paint(Tone::Good, "saved as a draft");
                    let review = review.as_deref().unwrap_or("none");
                    format!("{word} {}; the text stays until a person decides\n  review  {review}", memory.id)
                })
            }
            PatchOutcome::Saved(memory) => job.output.print_answer(&StatusView::new("patched", &memory), || {
                let word = job.output.paint(Tone::Good, "patched");
                format!("{word} {}, version {}\n  sha256  {}", memory.id, memory.version_number, memory.sha256)
            }),
        }
    }
}
