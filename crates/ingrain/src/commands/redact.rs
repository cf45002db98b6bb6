//! `redact`, `erase` and `certificate`: permanent erasure of text, and its proof.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use engine::model::id::VersionId;
use engine::removal::certificate::Certificate;
use engine::text::decode_error;
use engine::text::plural::format_count;
use engine::{EraseTarget, RedactionOutcome, RedactionRequest};
use serde_json::json;

use crate::commands::Job;
use crate::commands::read::MemoryReferenceArgs;
use crate::error::Failure;
use crate::output::Tone;
use crate::project::OF_FOLDER;
use crate::text_io::read_text_file;

#[derive(Debug, Args)]
pub struct RedactArgs {
    #[command(flatten)]
    reference: MemoryReferenceArgs,
    #[arg(long, help = "Reason, kept in the history and the certificate")]
    reason: String,
    /// Only this version (repeatable); default: all versions
    #[arg(long, value_name = "VERSION")]
    version_id: Vec<VersionId>,
    /// Allow the same text to be saved again
    #[arg(long)]
    may_return: bool,
}

impl RedactArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        // `None` stands for all versions.
        let versions = (!self.version_id.is_empty()).then_some(self.version_id);
        let redaction = RedactionRequest {
            memory: self.reference.resolve_id(job)?,
            versions,
            reason: self.reason,
            may_return: self.may_return,
        };
        match job.session.engine.redact(&job.session.caller, &redaction)? {
            RedactionOutcome::Refused(refusal) => Err(refusal.into()),
            RedactionOutcome::Done(done) => {
                let view = json!({
                    "status": "redacted",
                    "id": done.memory.id,
                    "state": done.memory.state,
                    "versions": done.versions,
                    "certificate": done.certificate,
                    "held_back": done.held_back,
                });
                job.output.print_answer(&view, || {
                    let mut text = format!(
                        "{} {} of {}",
                        job.output.paint(Tone::Good, "redacted"),
                        format_count(done.versions, "version", "versions"),
                        done.memory.id
                    );
                    text += &format!("\n  certificate {}", done.certificate.id);
                    done.held_back.iter().for_each(|id| text += &format!("\n  derived from it, held back: {id}"));
                    text
                })
            }
        }
    }
}

// The target is one of the shared flags --user, --project, --pipeline and --tenant.
#[derive(Debug, Args)]
pub struct EraseArgs {
    #[arg(long, help = "Reason, kept in the certificate")]
    reason: Option<String>,
    /// Allow the values of a user to be saved again
    #[arg(long)]
    may_return: bool,
    /// Confirm the erasure of a whole tenant
    #[arg(long)]
    yes: bool,
}

impl EraseArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let named = |name: &str| name.to_owned();
        let what = match job.global.erase_targets() {
            // The narrowest target wins: beside `--user` the flag `--tenant` only selects the tenant.
            [Some(user), ..] => EraseTarget::User(named(user)),
            [None, Some(OF_FOLDER), ..] => EraseTarget::Project(job.session.caller.project.clone().unwrap_or_default()),
            [None, Some(project), ..] => EraseTarget::Project(named(project)),
            [None, None, Some(pipeline), _] => EraseTarget::Pipeline(named(pipeline)),
            [None, None, None, Some(tenant)] if self.yes => EraseTarget::Tenant(named(tenant)),
            [None, None, None, Some(tenant)] => {
                return Err(Failure::user_error("usage", format!("this erases everything of tenant `{tenant}`"))
                    .with_hint("repeat with `--yes`"));
            }
            [None, None, None, None] => {
                return Err(Failure::user_error(
                    "usage",
                    "nothing to erase given: add `--user`, `--project`, `--pipeline` or `--tenant`",
                ));
            }
        };
        let certificate = job.session.engine.erase(&job.session.caller, &what, self.reason, self.may_return)?;
        let view = json!({ "status": "erased", "memories": certificate.memories, "certificate": certificate });
        job.output.print_answer(&view, || {
            let erased = format!(
                "{} {} of {} `{}`\n  certificate {}",
                job.output.paint(Tone::Good, "erased"),
                format_count(certificate.memories, "memory", "memories"),
                certificate.erasure,
                certificate.subject,
                certificate.id
            );
            let stays = certificate.stays.iter().map(|trace| format!("\n  stays       {trace}"));
            stays.fold(erased, |text, trace| text + &trace)
        })
    }
}

#[derive(Debug, Args)]
pub struct CertificateArgs {
    #[command(subcommand)]
    command: CertificateCommand,
}

#[derive(Debug, Subcommand)]
enum CertificateCommand {
    /// List certificates, newest first
    List,
    /// Show one certificate; save its --json output to verify it elsewhere
    #[command(visible_alias = "export")]
    Show {
        /// Id of the certificate
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Verify the seal of a certificate, its log entry, and that the erased text is gone
    Verify {
        /// Id of the certificate
        #[arg(value_name = "ID", required_unless_present = "file")]
        id: Option<String>,
        /// File with the JSON of a certificate
        #[arg(long, value_name = "FILE", conflicts_with = "id")]
        file: Option<PathBuf>,
    },
}

impl CertificateArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            CertificateCommand::List => {
                let certificates = engine.certificates(caller)?;
                job.output
                    .print_answer(&json!({ "certificates": certificates }), || render_certificates(job, &certificates))
            }
            CertificateCommand::Show { id } => {
                let certificate = engine.certificate(caller, &id)?;
                job.output.print_answer(&certificate, || render_certificates(job, std::slice::from_ref(&certificate)))
            }
            CertificateCommand::Verify { id, file } => {
                let certificate = match (id, file) {
                    (Some(id), _) => engine.certificate(caller, &id)?,
                    (None, Some(file)) => parse_certificate(&read_text_file(&file)?)?,
                    // clap asks for one of them already; the compiler cannot know.
                    (None, None) => {
                        return Err(Failure::user_error("usage", "no certificate given: add its id or `--file FILE`"));
                    }
                };
                let verified = engine.verify_certificate(caller, &certificate)?;
                job.output.print_answer(&verified, || {
                    let word = if verified.valid { (Tone::Good, "valid") } else { (Tone::Bad, "not valid") };
                    let check = |name: &str, holds: bool| format!("\n  {} {name}", if holds { "yes" } else { "no " });
                    job.output.paint(word.0, word.1)
                        + &check("the seal matches the content", verified.sealed)
                        + &check("the event log contains the seal", verified.logged)
                        + &check("nothing it lists can be read any more", verified.gone)
                })?;
                // Exit 2 and not 1: the check itself worked.
                if verified.valid { Ok(()) } else { Err(Failure::AlreadyReported(2)) }
            }
        }
    }
}

fn parse_certificate(text: &str) -> Result<Certificate, Failure> {
    decode_error::from_slice(text.as_bytes())
        .map_err(|words| Failure::user_error("shape.certificate", format!("the certificate is not valid: {words}")))
}

fn render_certificates(job: &Job<'_>, certificates: &[Certificate]) -> String {
    let row = |certificate: &Certificate| {
        vec![
            certificate.id.clone(),
            format!("{} {}", certificate.erasure, certificate.subject),
            format!(
                "{}, {}",
                format_count(certificate.memories, "memory", "memories"),
                format_count(certificate.versions, "version", "versions")
            ),
            certificate.by.clone(),
            certificate.at.to_string(),
            certificate.why.clone().unwrap_or_default(),
        ]
    };
    job.output.render_table(&["id", "what", "how many", "by", "when", "why"], certificates.iter().map(row))
}
