//! The one mapping from what went wrong to exit codes, JSON and words.

use engine::model::error::StoreError;
use engine::model::error::{CurrentVersion, Error};
use engine::model::refusal::Refusal;
use engine::safety;
use serde_json::{Map, Value, json};

/// Everything a command can end with besides success.
#[derive(Debug)]
pub enum Failure {
    /// Policy or safety said no.
    Refused(Refusal),
    /// The engine could not.
    Engine(Error),
    /// The command line, configuration or input is wrong; the user can mend it.
    UserError { code: &'static str, message: String, hint: Option<String> },
    /// Something outside broke: a file, a terminal.
    SystemError { code: &'static str, message: String },
    /// The output says it all; only the exit code is left to set.
    AlreadyReported(u8),
    /// Whoever read our output has gone. Not worth a word.
    PipeClosed,
}

impl Failure {
    /// The output says what was refused.
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

    pub fn with_hint(self, hint: impl Into<String>) -> Failure {
        match self {
            Failure::UserError { code, message, .. } => Failure::UserError { code, message, hint: Some(hint.into()) },
            other => other,
        }
    }

    pub fn from_clap_error(error: &clap::Error) -> Failure {
        let text = error.render().to_string();
        let message = text.trim().trim_start_matches("error: ").to_owned();
        Failure::user_error("usage", message)
    }

    /// 0 done, 1 failure, 2 usage or not found or conflict, 3 refused.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Refused(_) => 3,
            Failure::Engine(Error::Invalid { code, .. }) if is_refusal(code) => 3,
            Failure::Engine(Error::Invalid { .. } | Error::NotFound { .. } | Error::Conflict(_)) => 2,
            Failure::Engine(Error::Store(StoreError::Guard(_))) => 2,
            Failure::Engine(Error::Store(_)) | Failure::SystemError { .. } => 1,
            Failure::UserError { .. } => 2,
            Failure::AlreadyReported(code) => *code,
            Failure::PipeClosed => 0,
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Failure::Refused(refusal) => refusal.code,
            Failure::Engine(error) => error.code(),
            Failure::UserError { code, .. } | Failure::SystemError { code, .. } => code,
            Failure::AlreadyReported(_) | Failure::PipeClosed => "",
        }
    }

    /// What went wrong. It quotes what was not understood or not found, and that may be a secret in the wrong place.
    pub fn message(&self) -> String {
        let text = match self {
            Failure::Refused(refusal) => refusal.message.clone(),
            Failure::Engine(error) => error.to_string(),
            Failure::UserError { message, .. } | Failure::SystemError { message, .. } => message.clone(),
            Failure::AlreadyReported(_) | Failure::PipeClosed => String::new(),
        };
        safety::redact_secrets(&text, &safety::inspect(&text))
    }

    /// What to do next, as careful as the message.
    pub fn next_step(&self) -> Option<String> {
        self.find_hint().map(|text| safety::redact_secrets(&text, &safety::inspect(&text)))
    }

    fn find_hint(&self) -> Option<String> {
        match self {
            Failure::UserError { hint, .. } => hint.clone(),
            // The engine speaks to every door; which flag it is, is said here.
            Failure::Refused(Refusal { hint, .. }) => {
                hint_for_code(self.code()).map(str::to_owned).or_else(|| hint.clone())
            }
            Failure::Engine(Error::NotFound { what }) => {
                let noun = what.split(' ').next().unwrap_or_default();
                LIST_COMMANDS
                    .iter()
                    .find(|(name, _)| *name == noun)
                    .map(|(_, where_to)| format!("{where_to} shows what there is"))
                    .or_else(|| hint_for_code(self.code()).map(str::to_owned))
            }
            _ => hint_for_code(self.code()).map(str::to_owned),
        }
    }

    pub fn to_json(&self) -> Value {
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

    /// What stands there now, where the failure is a conflict.
    pub fn conflicting_content(&self) -> Option<&CurrentVersion> {
        match self {
            Failure::Engine(Error::Conflict(conflict)) => conflict.current.as_ref(),
            _ => None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Engine(error)
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

/// Where what was not found would be listed.
const LIST_COMMANDS: &[(&str, &str)] = &[
    ("store", "`ingrain store list`"),
    ("review", "`ingrain review list --state all`"),
    ("run", "`ingrain run list`"),
    ("receipt", "`ingrain receipt list`"),
    ("certificate", "`ingrain certificate list`"),
    ("ban", "`ingrain ban list`"),
    ("session", "`ingrain episodes sessions`"),
    ("document", "`ingrain ingest`"),
    ("key", "`ingrain key list`"),
    ("pipeline", "`ingrain pipeline list`"),
    ("tenant", "`ingrain tenant list`"),
];

/// Advice by code, for failures that bring none of their own.
fn hint_for_code(code: &str) -> Option<&'static str> {
    Some(match code {
        "not_found" => "`ingrain list` shows what you may see; `--state all` includes what was forgotten",
        "conflict.sha256" => "read it again and repeat with the current sha256",
        "conflict.lost_race" => "try again: somebody else wrote at the same moment",
        "conflict.nothing_there" => "leave out `--expect` to create it",
        "policy.read_revoked" | "policy.manage_revoked" => {
            "an admin gives rules to roles: `[roles.ROLE] rules` in config.toml"
        }
        "policy.pipeline_not_enabled" => "an admin enables it: `ingrain pipeline enable NAME --agent AGENT`",
        "policy.admins_only" => "repeat as an admin: `--as admin`",
        "policy.system_not_readable" => "grants come from configuration or the token: `--grant system:ID=read`",
        "evidence.missing" => "say what showed it: `--evidence 'tool call 17'`",
        "shape.kind_missing" => "give `--kind KIND`, such as runbook or note",
        "shape.reason_missing" => "give `--reason WHY`",
        "scope.system_missing" => "name it: `--system ID`",
        "scope.user_missing" => "say whose: `--user ID`, or `--as user:ID`",
        "scope.conversation_missing" => "say which: `--conversation ID`",
        "scope.agent_missing" => "say which: `--as agent:NAME`",
        "scope.pipeline_missing" => "say which: `--pipeline NAME` and `--as agent:NAME`",
        "scope.run_missing" => "say which: `--run ID`",
        "policy.memory_disabled" => {
            "reading works; `MEMORY_ENABLED=true`, or `memory.enabled` in config.toml, turns it on"
        }
        "store.unavailable" => "check that `--db` or `db` in the settings names the right place, then try again",
        "store.busy" => {
            "wait for that process or end it (`fuser FILE` or `lsof FILE` names it), then repeat this command"
        }
        "store.unwritable" => "check that the folder is there, is yours to write to and has room",
        "store.corrupt" => "keep the file, restore a backup beside it, and point `--db` at that",
        "store.gone" => "restart this process; what it saved last may be in the file that was taken away",
        "store.newer" => "install the newer ingrain; this one left the database untouched",
        "usage" => "`ingrain help` lists the commands",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_of_failure_has_its_exit_code() {
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
