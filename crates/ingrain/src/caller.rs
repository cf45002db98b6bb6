//! Caller identity from flags and configuration, never from model output.

use std::collections::BTreeMap;
use std::str::FromStr;

use engine::gate::check_caller;
use engine::model::caller::{Caller, Grant, MemoryPermissions};
use engine::model::id::TenantId;
use engine::model::vocabulary::Role;

use crate::config::{Config, RULE_MANAGE, RULE_READ, RoleRules};
use crate::error::Failure;

/// Parsed value of `--as`.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    Admin,
    Reviewer(String),
    User(String),
    Agent(String),
    Service(String),
}

impl FromStr for Identity {
    type Err = String;

    fn from_str(text: &str) -> Result<Identity, String> {
        // At the first colon: a name may contain more of them.
        let (role, name) = text.split_once(':').unwrap_or((text, ""));
        let named = |identity: fn(String) -> Identity| match name.trim() {
            "" => Err(format!("`{role}` needs a name: `{role}:NAME`")),
            name => Ok(identity(name.to_owned())),
        };
        match (role, name) {
            // `admin:NAME` is an error: an admin has no name here.
            ("admin", "") => Ok(Identity::Admin),
            // A single person at a terminal needs no name to review.
            ("reviewer", "") => Ok(Identity::Reviewer("local".to_owned())),
            ("reviewer", _) => named(Identity::Reviewer),
            ("user", _) => named(Identity::User),
            ("agent", _) => named(Identity::Agent),
            ("service", _) => named(Identity::Service),
            _ => Err("one of: admin, reviewer[:ID], user:ID, agent:NAME, service:NAME".to_owned()),
        }
    }
}

/// Parsed grant `system:ID=read` or `system:ID=manage`.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemGrant {
    pub system: String,
    pub grant: Grant,
}

impl FromStr for SystemGrant {
    type Err = String;

    fn from_str(text: &str) -> Result<SystemGrant, String> {
        let shape = || "write `system:ID=read` or `system:ID=manage`".to_owned();
        // Split at the last `=`: a system id may contain one.
        let (system, grant) = text.strip_prefix("system:").and_then(|rest| rest.rsplit_once('=')).ok_or_else(shape)?;
        let grant = match grant {
            "read" => Grant::Read,
            "manage" => Grant::Manage,
            _ => return Err(shape()),
        };
        match system.trim() {
            "" => Err(shape()),
            system => Ok(SystemGrant { system: system.to_owned(), grant }),
        }
    }
}

/// Builds the caller. Its tenant is nil until the database is open ([`crate::assemble::Session::open`]).
pub fn build_caller(config: &Config) -> Result<Caller, Failure> {
    let identity: Identity =
        config.identity.parse().map_err(|error| Failure::user_error("config.as", format!("`--as`: {error}")))?;
    let tenant = TenantId(uuid::Uuid::nil());
    let base = match &identity {
        // The local admin is also a person: saves without a store go to the notes of that user.
        Identity::Admin => {
            Caller { user: non_empty(&config.user).or(non_empty(&config.operator)), ..Caller::admin(tenant) }
        }
        Identity::Reviewer(id) => Caller::reviewer(tenant, id),
        Identity::User(id) => Caller::user(tenant, id),
        Identity::Agent(agent) => Caller::agent(tenant, agent),
        Identity::Service(service) => Caller::service(tenant, service),
    };
    let caller = Caller {
        // Agents and services act for a user only if `--user` names one.
        user: base.user.or_else(|| non_empty(&config.user)),
        // The login name: a local admin is the same person as the key that names it.
        person: base.person.or_else(|| non_empty(&config.operator)).filter(|_| !base.role.is_program()),
        project: non_empty(&config.project),
        // Looked up once the database is open.
        merged_projects: Vec::new(),
        conversation: non_empty(&config.conversation),
        session: non_empty(&config.session),
        run: non_empty(&config.run),
        pipeline: non_empty(&config.pipeline),
        unattended: config.unattended,
        // Given to an MCP client by a flag of its own.
        may_confirm: false,
        grants: collect_grants(config, &base.principal)?,
        rules: role_rules(config, base.role)?,
        principal: base.principal,
        role: base.role,
        agent: base.agent,
        tenant,
    };
    // The same limits as for names over REST and MCP.
    check_caller(&caller, &config.limits)?;
    Ok(caller)
}

fn non_empty(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// Configured grants of the principal merged with the grants of this call; the higher one counts.
fn collect_grants(config: &Config, principal: &str) -> Result<BTreeMap<String, Grant>, Failure> {
    let mut held = config.grants.get(principal).cloned().unwrap_or_default();
    for text in &config.grant {
        let SystemGrant { system, grant } =
            text.parse().map_err(|error| Failure::user_error("config.grant", format!("grant `{text}`: {error}")))?;
        let known = held.entry(system).or_insert(grant);
        *known = (*known).max(grant);
    }
    Ok(held)
}

fn role_rules(config: &Config, role: Role) -> Result<MemoryPermissions, Failure> {
    let held = config.roles.get(&role).map(RoleRules::permissions);
    // The rules of all roles are checked: a misspelt name would silently revoke a rule from another role.
    for rule in config.roles.values().flat_map(|held| &held.rules).chain(&config.revoke) {
        if rule != RULE_READ && rule != RULE_MANAGE {
            // The value is not quoted: it may be a secret set in the wrong variable.
            let message = format!("unknown rule of a role; expected one of: {RULE_READ}, {RULE_MANAGE}");
            return Err(Failure::user_error("config.rule", message)
                .with_hint("`ingrain config show` lists the rules and where they are set"));
        }
    }
    let held = held.unwrap_or(MemoryPermissions { read: false, manage: false });
    let is_revoked = |rule: &str| config.revoke.iter().any(|name| name == rule);
    Ok(MemoryPermissions { read: held.read && !is_revoked(RULE_READ), manage: held.manage && !is_revoked(RULE_MANAGE) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_and_grants() {
        let check = |text: &str, expected: Option<Identity>| assert_eq!(text.parse().ok(), expected, "{text}");
        check("admin", Some(Identity::Admin));
        check("reviewer", Some(Identity::Reviewer("local".to_owned())));
        check("user:ann", Some(Identity::User("ann".to_owned())));
        check("agent:a:b", Some(Identity::Agent("a:b".to_owned())));
        for odd in ["", "root", "agent", "agent:", "agent: ", "admin:x", "user"] {
            check(odd, None);
        }
        let manage = SystemGrant { system: "db=1".to_owned(), grant: Grant::Manage };
        assert_eq!("system:db=1=manage".parse(), Ok(manage));
        for odd in ["", "db=read", "system:=read", "system:db=write", "system:db"] {
            assert!(odd.parse::<SystemGrant>().is_err(), "{odd}");
        }
    }
}
