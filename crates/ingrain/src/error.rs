//! Failures of commands and their mapping to exit codes, JSON and messages.

use engine::model::error::{CurrentVersion, Error, StoreError};
use engine::model::refusal::Refusal;
use engine::safety;
use engine::safety::redact_identifier;
use serde_json::{Map, Value, json};

/// Every outcome of a command other than success.
#[derive(Debug)]
pub enum Failure {
    /// Refused by policy or the scanner.
    Refused(Refusal),
    /// Error of the engine or the store.
    Engine(Error),
    /// Wrong command line, configuration or input; the user can correct it.
    UserError { code: &'static str, message: String, hint: Option<String> },
    /// Failure of the environment: a file, a socket, a child process.
    SystemError { code: &'static str, message: String },
    /// Already printed; carries only the exit code.
    AlreadyReported(u8),
    /// The reader of stdout closed the pipe. Exits with 0, without a message.
    PipeClosed,
}

impl Failure {
    /// The refusal is already printed.
    pub const REFUSAL_REPORTED: Failure = Failure::AlreadyReported(3);

    pub fn user_error(code: &'static str, message: impl Into<String>) -> Failure {
        Failure::UserError { code, message: message.into(), hint: None }
    }

    pub fn system_error(code: &'static str, message: impl Into<String>) -> Failure {
        Failure::SystemError { code, message: message.into() }
    }

    /// A file or stream that cannot be read.
    pub fn unreadable_input(name: impl std::fmt::Display, error: &std::io::Error) -> Failure {
        Failure::user_error("input.unreadable", format!("cannot read `{name}`: {error}"))
    }

    /// Adds the next step; only user errors carry one.
    pub fn with_hint(self, hint: impl Into<String>) -> Failure {
        match self {
            Failure::UserError { code, message, .. } => Failure::UserError { code, message, hint: Some(hint.into()) },
            // A hint on another failure is dropped: those find theirs by their code or in the refusal.
            other => other,
        }
    }

    pub fn from_clap_error(error: &clap::Error) -> Failure {
        // clap adds the usage line; only its prefix is removed, as `print_failure` adds its own.
        let text = error.render().to_string();
        let message = text.trim().trim_start_matches("error: ").to_owned();
        Failure::user_error("usage", message)
    }

    /// Exit code: 0 done, 1 failure, 2 usage error, not found or conflict, 3 refused.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Refused(_) => 3,
            // The engine reports some policy decisions as invalid input; to the user they are refusals.
            Failure::Engine(Error::Invalid { code, .. }) if is_refusal(code) => 3,
            Failure::Engine(Error::Invalid { .. } | Error::NotFound { .. } | Error::Conflict(_)) => 2,
            // A lost race: the database is fine, the caller may try again.
            Failure::Engine(Error::Store(StoreError::Guard(_))) => 2,
            Failure::Engine(Error::Store(_)) | Failure::SystemError { .. } => 1,
            Failure::UserError { .. } => 2,
            Failure::AlreadyReported(code) => *code,
            // `head` closing the pipe is what the user wanted.
            Failure::PipeClosed => 0,
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Failure::Refused(refusal) => refusal.code,
            Failure::Engine(error) => error.code(),
            Failure::UserError { code, .. } | Failure::SystemError { code, .. } => code,
            // Neither is printed, so the value does not matter.
            Failure::AlreadyReported(_) | Failure::PipeClosed => "",
        }
    }

    /// Error message with secrets redacted: it may quote input, for example a password given for the wrong flag.
    pub fn message(&self) -> String {
        let text = match self {
            Failure::Refused(refusal) => refusal.message.clone(),
            Failure::Engine(error) => error.to_string(),
            Failure::UserError { message, .. } | Failure::SystemError { message, .. } => message.clone(),
            // As in `code`: never printed.
            Failure::AlreadyReported(_) | Failure::PipeClosed => String::new(),
        };
        safety::redact_secrets(&text, &safety::inspect(&text))
    }

    /// Next step for the user, with secrets redacted as in [`Failure::message`].
    pub fn next_step(&self) -> Option<String> {
        self.find_hint().map(|text| safety::redact_secrets(&text, &safety::inspect(&text)))
    }

    fn find_hint(&self) -> Option<String> {
        match self {
            Failure::UserError { hint, .. } => hint.clone(),
            // The CLI hint comes first: it names the flag, which the engine cannot know.
            Failure::Refused(Refusal { hint, .. }) => {
                hint_for_code(self.code()).map(str::to_owned).or_else(|| hint.clone())
            }
            Failure::Engine(Error::NotFound { what }) => {
                // `what` begins with a noun, as in "store `notes`".
                let noun = what.split(' ').next().unwrap_or_default();
                let listed = LIST_HINTS.iter().find(|(name, _)| *name == noun).map(|(_, hint)| *hint);
                listed.or_else(|| hint_for_code(self.code())).map(str::to_owned)
            }
            _ => hint_for_code(self.code()).map(str::to_owned),
        }
    }

    pub fn to_json(&self) -> Value {
        // Taken from the exit code, so that JSON and shell never disagree.
        let status = if self.exit_code() == 3 { "refused" } else { "error" };
        let mut answer = Map::new();
        answer.insert("status".to_owned(), json!(status));
        answer.insert("code".to_owned(), json!(self.code()));
        answer.insert("error".to_owned(), json!(self.message()));
        answer.extend(self.next_step().map(|hint| ("hint".to_owned(), json!(hint))));
        if let Failure::Refused(refusal) = self {
            answer.insert("findings".to_owned(), json!(refusal.findings));
        }
        answer.extend(self.conflicting_content().map(|current| ("current".to_owned(), json!(current))));
        Value::Object(answer)
    }

    /// Current version, if the failure is a conflict.
    pub fn conflicting_content(&self) -> Option<&CurrentVersion> {
        match self {
            Failure::Engine(Error::Conflict(conflict)) => conflict.current.as_ref(),
            _ => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        // A message may name what was asked for, such as a store that does not exist.
        Failure::Engine(match error {
            Error::NotFound { what } => Error::NotFound { what: redact_identifier(what) },
            Error::Invalid { code, message } => Error::Invalid { code, message: redact_identifier(message) },
            other => other,
        })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Engine(Error::Store(error))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

fn is_refusal(code: &str) -> bool {
    code.starts_with("policy.") || code.starts_with("safety.")
}

/// Command that lists the records, by the noun of a "not found" error.
const LIST_HINTS: &[(&str, &str)] = &[
    ("store", "`ingrain store list` lists the stores"),
    ("review", "`ingrain review list --state all` lists the reviews"),
    ("run", "`ingrain run list` lists the runs"),
    ("receipt", "`ingrain receipt list` lists the receipts"),
    ("certificate", "`ingrain certificate list` lists the certificates"),
    ("ban", "`ingrain ban list` lists the bans"),
    ("session", "`ingrain episodes sessions` lists the sessions"),
    ("document", "`ingrain ingest` lists the documents"),
    ("key", "`ingrain key list` lists the keys"),
    ("pipeline", "`ingrain pipeline list` lists the pipelines"),
    ("project", "`ingrain project list` lists the projects"),
    ("tenant", "`ingrain tenant list` lists the tenants"),
    ("allowed", "`ingrain scan allowed` lists the allowed values"),
    ("version", "`ingrain history ID` lists the versions of a memory"),
];

/// Next step by error code, in terms of CLI flags.
fn hint_for_code(code: &str) -> Option<&'static str> {
    Some(match code {
        "not_found" => "`ingrain list` lists what you may read; `--state all` includes forgotten memories",
        "conflict.sha256" => "read it again and repeat with the current sha256",
        "conflict.lost_race" => "read the current state and repeat the command",
        "conflict.nothing_there" => "leave out `--expect` to create it",
        "policy.read_revoked" | "policy.manage_revoked" => {
            "an admin sets the rules of a role: `[roles.ROLE] rules` in config.toml"
        }
        "policy.pipeline_not_enabled" => "an admin enables it: `ingrain pipeline enable NAME --agent AGENT`",
        "policy.admins_only" => "repeat as an admin: `--as admin`",
        "policy.system_not_readable" => "grants come from configuration or the token: `--grant system:ID=read`",
        "evidence.missing" => "give evidence: `--evidence 'tool call 17'`",
        "shape.kind_missing" => "give `--kind KIND`, for example runbook or note",
        "shape.reason_missing" => "give `--reason WHY`",
        "scope.system_missing" => "give the system: `--system ID`",
        "scope.user_missing" => "give the user: `--user ID` or `--as user:ID`",
        "scope.project_missing" => "give the project: `--project NAME`, or `--project .` for that of this folder",
        "scope.conversation_missing" => "give the conversation: `--conversation ID`",
        "scope.agent_missing" => "give the agent: `--as agent:NAME`",
        "scope.pipeline_missing" => "give both: `--pipeline NAME` and `--as agent:NAME`",
        "scope.run_missing" => "give the run: `--run ID`",
        "policy.memory_disabled" => {
            "reads still work; `MEMORY_ENABLED=true`, or `memory.enabled` in config.toml, turns writes on"
        }
        "store.unavailable" => "check the database address (`--db`, or `db` in the settings), then try again",
        "store.busy" => {
            "wait for that process or end it (`fuser FILE` or `lsof FILE` names it), then repeat this command"
        }
        "store.unwritable" => "check that the folder exists, is writable and has free space",
        "store.corrupt" => "keep the file, restore a backup next to it, and give that to `--db`",
        "store.gone" => "restart this process; its last saves may be in the file that was removed",
        "store.newer" => "install the newer ingrain; this one did not change the database",
        "usage" => "`ingrain help` lists the commands",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_exit_code_and_status() {
        let check = |failure: Failure, exit: u8, status: &str| {
            assert_eq!(failure.exit_code(), exit, "{failure:?}");
            assert_eq!(failure.to_json()["status"], status, "{failure:?}");
        };
        check(Refusal::new("policy.not_yours", "no").into(), 3, "refused");
        check(Error::invalid("policy.read_revoked", "no").into(), 3, "refused");
        check(Error::invalid("shape.path", "no").into(), 2, "error");
        check(Error::not_found("memory").into(), 2, "error");
        check(Error::conflict("conflict.sha256", "changed").into(), 2, "error");
        check(StoreError::Corrupt("page 1".to_owned()).into(), 1, "error");
        check(StoreError::SchemaTooNew { found: 9, known: 1 }.into(), 1, "error");
        check(Failure::user_error("usage", "what?"), 2, "error");
        check(Failure::system_error("io", "gone"), 1, "error");
    }
}
