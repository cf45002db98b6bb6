//! `key`: creates, lists, rotates and revokes keys of the server.

use clap::{Args, Subcommand};
use engine::admin::keys::{IssuedKey, NewKey};
use engine::model::caller::{Grant, MemoryPermissions};
use engine::model::key::{Key, KeyRights, Settable};
use engine::model::vocabulary::Role;
use jiff::SignedDuration;
use serde::Serialize;

use super::serve::random_key_bytes;
use crate::caller::{Identity, SystemGrant};
use crate::cli::KeyFlags;
use crate::commands::Job;
use crate::config::{RULE_MANAGE, RULE_READ};
use crate::error::Failure;
use crate::output::{Output, Tone};

const HOURS_PER_DAY: i64 = 24;

#[derive(Debug, Args)]
pub struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// List all keys, newest first, without their texts
    List,
    /// Create a key; its text is shown only once
    Create(CreateKeyArgs),
    /// Create a new key with the same rights and end the old one
    Rotate {
        /// Id of the key
        id: String,
        /// Seconds that the old key still works
        #[arg(long, default_value_t = 0, value_name = "SECONDS")]
        overlap: u32,
    },
    /// End a key at once
    Revoke {
        /// Id of the key
        id: String,
    },
}

#[derive(Debug, Args)]
struct CreateKeyArgs {
    /// Name of the key
    name: String,
    #[arg(
        long = "for",
        value_name = "WHO",
        help = "Holder: admin, reviewer:ID, user:ID, agent:NAME or service:NAME; an admin also needs --user"
    )]
    holder: Identity,
    /// Caller fields it may set in headers: agent, user, project, conversation, session, run, pipeline
    /// (comma-separated)
    #[arg(long, value_delimiter = ',', value_name = "WHAT")]
    may_set: Vec<Settable>,
    /// Grant on a system: `system:ID=read` or `system:ID=manage` (repeatable)
    #[arg(long = "allow", value_name = "GRANT")]
    grants: Vec<SystemGrant>,
    /// The key's client shows questions to its user and brings back that person's own answers
    #[arg(long)]
    may_confirm: bool,
    #[arg(long, help = "Allow reads only")]
    read_only: bool,
    #[arg(long, value_name = "N", help = "Days until the key expires; default: never")]
    days: Option<u32>,
    /// Allow the key to create and list tenants
    #[arg(long)]
    operator: bool,
}

/// The flags of the key, with the project as the caller has it: `.` is resolved.
fn key_flags<'a>(job: &'a Job<'_>) -> KeyFlags<'a> {
    let flags = job.global.key_flags();
    KeyFlags { project: flags.project.and(job.session.caller.project.as_deref()), ..flags }
}

impl CreateKeyArgs {
    fn to_rights(&self, flags: KeyFlags<'_>) -> Result<KeyRights, Failure> {
        // `--for` sets the role and fixes its name; `--may-set` allows others in headers.
        let named = |role, agent: Option<&String>, user: Option<&String>| KeyRights {
            agent: agent.cloned(),
            user: user.cloned(),
            ..KeyRights::for_role(role)
        };
        let rights = match &self.holder {
            Identity::Admin => named(Role::Admin, None, None),
            Identity::Reviewer(id) => named(Role::Reviewer, None, Some(id)),
            Identity::User(id) => named(Role::User, None, Some(id)),
            Identity::Agent(name) => named(Role::Agent, Some(name), None),
            Identity::Service(name) => named(Role::Service, Some(name), None),
        };
        // `reviewer` without a name is the local person, who has no key.
        let holder = rights.user.filter(|_| self.holder != Identity::Reviewer("local".to_owned()));
        let user = match (holder, flags.user) {
            (Some(holder), Some(user)) if holder != user => {
                let message = format!("the key names two people: `{holder}` and `{user}`");
                return Err(Failure::user_error("usage", message));
            }
            (holder, user) => holder.or_else(|| user.map(str::to_owned)),
        };
        let is_revoked = |rule: &str| flags.revoke.iter().any(|name| name == rule);
        let grant = |granted: &SystemGrant| -> (String, Grant) { (granted.system.clone(), granted.grant) };
        Ok(KeyRights {
            user,
            project: flags.project.map(str::to_owned),
            pipeline: flags.pipeline.map(str::to_owned),
            unattended: flags.unattended,
            rules: MemoryPermissions {
                read: !is_revoked(RULE_READ),
                manage: !self.read_only && !is_revoked(RULE_MANAGE),
            },
            grants: self.grants.iter().map(grant).collect(),
            may_set: self.may_set.clone(),
            may_confirm: self.may_confirm,
            operator: self.operator,
            ..rights
        })
    }
}

/// A key without its hash.
#[derive(Serialize)]
struct KeyView<'a> {
    id: &'a str,
    name: &'a str,
    prefix: &'a str,
    #[serde(flatten)]
    rights: &'a KeyRights,
    created_at: String,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> KeyView<'a> {
    fn from_key(key: &'a Key, text: Option<&'a str>) -> KeyView<'a> {
        let format_time = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string());
        KeyView {
            id: &key.id,
            name: &key.name,
            prefix: &key.prefix,
            rights: &key.rights,
            created_at: key.created_at.to_string(),
            expires_at: format_time(key.expires_at),
            last_used_at: format_time(key.last_used_at),
            revoked_at: format_time(key.revoked_at),
            text,
        }
    }
}

#[derive(Serialize)]
struct KeysView<'a> {
    keys: Vec<KeyView<'a>>,
}

impl KeyArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            KeyCommand::List => {
                let keys = engine.keys(caller)?;
                let view = KeysView { keys: keys.iter().map(|key| KeyView::from_key(key, None)).collect() };
                job.output.print_answer(&view, || render_keys(job.output, &view.keys))
            }
            KeyCommand::Create(create) => {
                // Days of 24 hours: a key has no time zone.
                let length = |days| SignedDuration::from_hours(i64::from(days) * HOURS_PER_DAY);
                // An overflow is an error: it must not become a key that never expires.
                let too_long = |_| {
                    Failure::user_error("shape.out_of_range", "`days` is too large")
                        .with_hint("without `--days` the key never expires")
                };
                let end_after = |days| engine.clock.now().checked_add(length(days)).map_err(too_long);
                let expires_at = create.days.map(end_after).transpose()?;
                let new = NewKey { name: create.name.clone(), rights: create.to_rights(key_flags(job))?, expires_at };
                print_issued(job.output, &engine.create_key(caller, new, random_key_bytes()?)?)
            }
            KeyCommand::Rotate { id, overlap } => {
                let overlap = SignedDuration::from_secs(i64::from(overlap));
                print_issued(job.output, &engine.rotate_key(caller, &id, overlap, random_key_bytes()?)?)
            }
            KeyCommand::Revoke { id } => {
                let key = engine.revoke_key(caller, &id)?;
                let words = || format!("{} key {}", job.output.paint(Tone::Good, "revoked"), key.name);
                job.output.print_answer(&KeyView::from_key(&key, None), words)
            }
        }
    }
}

fn print_issued(output: &Output, issued: &IssuedKey) -> Result<(), Failure> {
    // The key is alone on the first line, so that `head -n 1` takes it.
    let words = || format!("{}\n{}", issued.text, output.paint(Tone::Faint, "shown only once: store it safely"));
    output.print_answer(&KeyView::from_key(&issued.key, Some(&issued.text)), words)
}

fn render_keys(output: &Output, keys: &[KeyView<'_>]) -> String {
    let row = |key: &KeyView<'_>| {
        // A revocation hides the expiry, which no longer matters.
        let ends = key.revoked_at.clone().map(|at| format!("revoked {at}")).or(key.expires_at.clone());
        let used = key.last_used_at.clone().unwrap_or_default();
        let role = key.rights.role.to_string();
        vec![key.name.to_owned(), role, key.prefix.to_owned(), used, ends.unwrap_or_default(), key.id.to_owned()]
    };
    output.render_table(&["name", "role", "begins", "last used", "ends", "id"], keys.iter().map(row))
}
