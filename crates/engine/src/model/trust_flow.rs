//! Trust flow: every way text gets into a memory, and the trust it gets there. The only place that computes trust.
//!
//! Read [`TRUST_FLOW`] as the list of all ways up: a level that no row names for an author is out of that author's
//! reach. Trust is kept per field ([`FieldTrust`]): a field is as trusted as the author of its current value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::caller::Caller;
use crate::model::memory::Memory;
use crate::model::vocabulary::{Role, Trust};
use crate::vocabulary;

vocabulary! {
    /// Way for text to get into a memory.
    Way ("way") {
        /// A save, patch, rename or pin: the fields that the request states.
        Write = "write",
        /// A save of exactly the text that the caller's user was shown and confirmed.
        Confirm = "confirm",
        /// An entry of a log store.
        Append = "append",
        /// Text of the product itself: seeds, notices of promotions.
        Product = "product",
        /// A candidate for review.
        Propose = "propose",
        /// A decision on one version: an approved review. It raises every field of that version.
        Decide = "decide",
        /// A memory of an export file without its history.
        Import = "import",
        /// A version of an export file with its history.
        ImportHistory = "import with history",
        /// An earlier version that a rollback brings back.
        Restore = "restore",
    }
}

vocabulary! {
    /// Author, as far as trust depends on it.
    Author ("author") {
        Admin = "admin",
        Reviewer = "reviewer",
        User = "user",
        /// An agent or service.
        Program = "agent",
    }
}

/// Trust of one way in: at most the author's level, and at most each limit that applies.
#[derive(Debug)]
pub struct TrustRule {
    pub way: Way,
    /// By [`Author`], in its order; `None`: this author has no such way.
    pub ceilings: [Option<Trust>; Author::ALL.len()],
    /// At most the default trust of the store.
    pub up_to_store: bool,
    /// At most the least trusted source that the draft names.
    pub up_to_sources: bool,
    /// At most what the version had where it comes from.
    pub up_to_recorded: bool,
}

const DRAFT: Option<Trust> = Some(Trust::AgentDraft);
const AUTHORED: Option<Trust> = Some(Trust::UserAuthored);
const APPROVED: Option<Trust> = Some(Trust::AdminApproved);

/// The table, one row for each [`Way`], in its order. `docs/guide/scopes-and-trust.md` shows it.
#[rustfmt::skip]
pub const TRUST_FLOW: [TrustRule; Way::ALL.len()] = [
    //                   admin     reviewer  user      program       store  sources recorded
    rule(Way::Write,         [APPROVED, AUTHORED, AUTHORED, DRAFT],    true,  true,  false),
    // The person decided about the whole text, so its sources do not count.
    rule(Way::Confirm,       [APPROVED, AUTHORED, AUTHORED, AUTHORED], true,  false, false),
    rule(Way::Append,        [DRAFT,    DRAFT,    DRAFT,    DRAFT],    true,  true,  false),
    rule(Way::Product,       [APPROVED, APPROVED, APPROVED, APPROVED], true,  true,  false),
    rule(Way::Propose,       [APPROVED, AUTHORED, AUTHORED, DRAFT],    true,  true,  false),
    // A user decides as owner of a path or in the own scope; that does not make a memory `admin_approved`.
    rule(Way::Decide,        [APPROVED, APPROVED, AUTHORED, None],     false, false, false),
    // An export file is no new statement: what was a draft where it was exported stays one.
    rule(Way::Import,        [APPROVED, AUTHORED, AUTHORED, DRAFT],    true,  true,  true),
    rule(Way::ImportHistory, [APPROVED, None,     None,     None],     false, false, true),
    // The trust was decided when the version was written. Who brings it back adds no words.
    rule(Way::Restore,       [APPROVED, APPROVED, APPROVED, APPROVED], false, false, true),
];

const fn rule(
    way: Way,
    ceilings: [Option<Trust>; Author::ALL.len()],
    up_to_store: bool,
    up_to_sources: bool,
    up_to_recorded: bool,
) -> TrustRule {
    TrustRule { way, ceilings, up_to_store, up_to_sources, up_to_recorded }
}

/// The limits of one write. A limit that the way does not have is ignored.
#[derive(Clone, Copy, Debug)]
pub struct TrustLimits {
    /// Default trust of the store.
    pub store: Trust,
    /// Least trust among the named sources.
    pub sources: Option<Trust>,
    /// Trust that the version had where it comes from.
    pub recorded: Option<Trust>,
}

impl TrustLimits {
    pub fn of_store(store: Trust) -> TrustLimits {
        TrustLimits { store, sources: None, recorded: None }
    }
}

impl Author {
    pub fn of(caller: &Caller) -> Author {
        match caller.role {
            Role::Admin => Author::Admin,
            Role::Reviewer => Author::Reviewer,
            Role::User => Author::User,
            Role::Agent | Role::Service => Author::Program,
        }
    }
}

impl Way {
    pub fn rule(self) -> &'static TrustRule {
        // INVARIANT: rows are in the order of `Way` (`the_table_has_a_row_for_each_way`).
        &TRUST_FLOW[self as usize]
    }

    /// Trust of text that comes in this way. The lowest level for an author that the row leaves out: policy refuses
    /// that write, and a mistake there must not raise anything.
    pub fn trust(self, caller: &Caller, limits: TrustLimits) -> Trust {
        let rule = self.rule();
        let ceiling = rule.ceilings[Author::of(caller) as usize].unwrap_or(Trust::AgentDraft);
        let applied = [
            rule.up_to_store.then_some(limits.store),
            limits.sources.filter(|_| rule.up_to_sources),
            // A way that is limited by the recorded trust gives nothing without one.
            rule.up_to_recorded.then(|| limits.recorded.unwrap_or(Trust::AgentDraft)),
        ];
        applied.into_iter().flatten().fold(ceiling, Trust::min)
    }
}

vocabulary! {
    /// Field of a memory besides the content that holds an author's words, or decides where they are shown.
    ///
    /// The others need no trust of their own: kind, layer, role and numbers are closed words, entities only rank,
    /// author, times and versions are the engine's.
    Field ("field") {
        Path = "path",
        Title = "title",
        RecallHint = "recall_hint",
        Tags = "tags",
        Metadata = "metadata",
        AlwaysInject = "always_inject",
        Session = "session",
        Speaker = "speaker",
    }
}

/// Trust of the fields that differ from that of the content. Empty for most memories.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldTrust(BTreeMap<Field, Trust>);

impl FieldTrust {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Field, Trust)> {
        self.0.iter().map(|(field, trust)| (*field, *trust))
    }
}

impl Memory {
    /// Trust of a field: that of the author of its current value.
    pub fn trust_of(&self, field: Field) -> Trust {
        self.field_trust.0.get(&field).copied().unwrap_or(self.trust)
    }

    /// Whether a field may be shown under this trust.
    pub fn reaches(&self, field: Field, trust: Trust) -> bool {
        self.field_trust.is_empty() || self.trust_of(field) >= trust
    }

    /// Fields with a value that are less trusted than the content.
    pub fn less_trusted_fields(&self) -> impl Iterator<Item = Field> {
        self.field_trust.iter().filter(|(_, trust)| *trust < self.trust).map(|(field, _)| field)
    }

    /// The trust of the content, or of a less trusted field among these.
    pub fn least_trust(&self, fields: &[Field]) -> Trust {
        fields.iter().map(|field| self.trust_of(*field)).fold(self.trust, Trust::min)
    }

    /// The least trust of content and text fields: what a copy of the memory may claim. A pin is not copied.
    pub fn least_text_trust(&self) -> Trust {
        let texts = self.field_trust.iter().filter(|(field, _)| *field != Field::AlwaysInject);
        texts.map(|(_, trust)| trust).fold(self.trust, Trust::min)
    }

    /// The memory as a model sees it: fields that are less trusted than the content are left out, so that everything
    /// shown reaches the trust that is shown with it. The pin stays: it is no text.
    #[must_use]
    pub fn for_model(mut self) -> Memory {
        if self.field_trust.is_empty() {
            return self;
        }
        for field in self.less_trusted_fields().collect::<Vec<_>>() {
            match field {
                Field::Path => self.path = None,
                Field::Title => self.title = None,
                Field::RecallHint => self.recall_hint = None,
                Field::Tags => self.tags.clear(),
                Field::Metadata => self.metadata.clear(),
                Field::Session => self.session = None,
                Field::Speaker => self.speaker = None,
                Field::AlwaysInject => {}
            }
        }
        self
    }

    /// Sets the trust of one field.
    pub(crate) fn set_field_trust(&mut self, field: Field, trust: Trust) {
        // A field without a value has no author: a later one starts afresh.
        match trust != self.trust && self.has_value(field) {
            true => self.field_trust.0.insert(field, trust),
            false => self.field_trust.0.remove(&field),
        };
    }

    /// Raises the whole memory, as a person decided about exactly this version. Never lowers a field.
    pub fn raise_trust(&mut self, trust: Trust) {
        let kept: Vec<(Field, Trust)> = self.field_trust.iter().collect();
        self.trust = self.trust.max(trust);
        self.field_trust = FieldTrust::default();
        for (field, old) in kept {
            self.set_field_trust(field, old.max(trust));
        }
    }

    /// Drops the trust of fields that have no value any more.
    pub(crate) fn forget_empty_fields(&mut self) {
        for (field, trust) in self.field_trust.clone().iter() {
            self.set_field_trust(field, trust);
        }
    }

    fn has_value(&self, field: Field) -> bool {
        match field {
            Field::Path => self.path.is_some(),
            Field::Title => self.title.is_some(),
            Field::RecallHint => self.recall_hint.is_some(),
            Field::Tags => !self.tags.is_empty(),
            Field::Metadata => !self.metadata.is_empty(),
            Field::AlwaysInject => self.always_inject,
            Field::Session => self.session.is_some(),
            Field::Speaker => self.speaker.is_some(),
        }
    }

    /// Whether two memories have the same value in a field.
    pub(crate) fn same_value(&self, other: &Memory, field: Field) -> bool {
        match field {
            Field::Path => self.path == other.path,
            Field::Title => self.title == other.title,
            Field::RecallHint => self.recall_hint == other.recall_hint,
            Field::Tags => self.tags == other.tags,
            Field::Metadata => self.metadata == other.metadata,
            Field::AlwaysInject => self.always_inject == other.always_inject,
            Field::Session => self.session == other.session,
            Field::Speaker => self.speaker == other.speaker,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::TenantId;

    #[test]
    fn the_table_has_a_row_for_each_way() {
        for way in Way::ALL {
            assert_eq!(way.rule().way, *way);
        }
    }

    /// The table as the guide shows it.
    fn table() -> String {
        let level = |trust: &Option<Trust>| trust.map_or_else(|| "no way".to_owned(), |trust| format!("`{trust}`"));
        let row = |rule: &TrustRule| {
            let limits = [
                (rule.up_to_store, "store's default"),
                (rule.up_to_sources, "sources"),
                (rule.up_to_recorded, "trust it had"),
            ];
            let limits: Vec<&str> = limits.iter().filter(|(applies, _)| *applies).map(|(_, name)| *name).collect();
            let ceilings: Vec<String> = rule.ceilings.iter().map(level).collect();
            format!("| {} | {} | {} |\n", rule.way, ceilings.join(" | "), limits.join(", "))
        };
        let authors: Vec<&str> = Author::ALL.iter().map(|author| author.as_str()).collect();
        let head = format!("| way in | {} | at most |\n| --- | --- | --- | --- | --- | --- |\n", authors.join(" | "));
        head + &TRUST_FLOW.iter().map(row).collect::<String>()
    }

    #[test]
    fn the_guide_shows_the_table() {
        let page = include_str!("../../../../docs/guide/scopes-and-trust.md");
        assert!(page.contains(&table()), "put this table into docs/guide/scopes-and-trust.md:\n{}", table());
    }

    #[test]
    fn a_program_reaches_no_trust_without_a_person_or_a_record() {
        let agent = Caller::agent(TenantId(uuid::Uuid::nil()), "triage");
        let limits = TrustLimits { store: Trust::AdminApproved, sources: Some(Trust::AdminApproved), recorded: None };
        for way in Way::ALL {
            let expected = match way {
                // The words are the product's, or the person confirmed them.
                Way::Product => Trust::AdminApproved,
                Way::Confirm => Trust::UserAuthored,
                _ => Trust::AgentDraft,
            };
            assert_eq!(way.trust(&agent, limits), expected, "{way}");
        }
    }

    #[test]
    fn no_way_exceeds_a_limit_it_has() {
        let admin = Caller::admin(TenantId(uuid::Uuid::nil()));
        for way in Way::ALL {
            for level in Trust::ALL {
                let high = Trust::AdminApproved;
                let check = |applies: bool, limits: TrustLimits| {
                    assert!(!applies || way.trust(&admin, limits) <= *level, "{way}: {limits:?}");
                };
                let recorded = Some(high);
                check(way.rule().up_to_store, TrustLimits { store: *level, sources: None, recorded });
                check(way.rule().up_to_sources, TrustLimits { store: high, sources: Some(*level), recorded });
                check(way.rule().up_to_recorded, TrustLimits { store: high, sources: None, recorded: Some(*level) });
            }
        }
    }
}
