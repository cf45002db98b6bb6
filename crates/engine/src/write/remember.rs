//! Remember: one gate, one transaction, one answer.

use crate::Engine;
use crate::admin::erase::erasures_are;
use crate::gate::duplicate::{self, Likeness};
use crate::gate::{self, ClearedDraft, Deed, Entry, Ground, Stamp, Stop};
use crate::model::caller::Caller;
use crate::model::error::{Conflict, Current, Error};
use crate::model::event::{EventName, Happening};
use crate::model::id::MemoryId;
use crate::model::memory::{Draft, Memory, content_sha256};
use crate::model::refusal::Refusal;
use crate::model::ruleset::Ruleset;
use crate::model::scope::Scope;
use crate::model::store::Store;
use crate::model::vocabulary::{Dedup, Operation, State};
use crate::policy::Readable;
use crate::ports::change::{Change, Guard, Place, Write};
use crate::ports::{Address, Filter, Find, Order, Page};
use crate::recall::usage::Touch;
use crate::safety::classifier::{Classifier, Counted};
use crate::tenant::bans::BanKey;
use crate::tenant::pipelines::OptIn;
use crate::text::words;
use crate::write::attempt::Step;

/// The answer to a save.
#[derive(Debug, Clone)]
pub enum Remembered {
    Saved(Box<Saved>),
    Refused(Refusal),
}

#[derive(Debug, Clone)]
pub struct Saved {
    pub memory: Memory,
    pub outcome: Outcome,
    /// Which sameness made this an update or a no-op.
    pub deduped_by: Option<Dedup>,
    /// A memory with a similar hint that says something else.
    pub near: Option<MemoryId>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Created,
    Updated,
    /// Already known: nothing was written.
    Unchanged,
}

/// What a save meets at its place.
enum Target {
    New { guard: Option<Guard>, near: Option<MemoryId> },
    Existing(Box<Memory>),
    Same(Box<Memory>),
}

impl Engine {
    /// Saves what a caller learnt, or says why not.
    pub fn remember(&self, caller: &Caller, draft: Draft) -> Result<Remembered, Error> {
        self.lasts(&draft)?;
        self.remember_as(caller, draft, Deed::Write, Operation::Create)
    }

    /// As [`Engine::remember`], a step at a time.
    pub fn begin(&self, caller: &Caller, draft: Draft) -> Result<Step, Error> {
        self.lasts(&draft)?;
        self.begin_as(caller, draft, Deed::Write, Operation::Create)
    }

    fn lasts(&self, draft: &Draft) -> Result<(), Error> {
        match draft.expires_at {
            Some(at) if at <= self.clock.now() => {
                Err(Error::invalid("shape.expired", "it would expire before it is saved: name a later time"))
            }
            _ => Ok(()),
        }
    }

    /// What to write, unless it is known already, and what that comes to.
    pub(crate) fn put(
        &self,
        caller: &Caller,
        store: &Store,
        cleared: ClearedDraft,
        operation: Operation,
        leap: bool,
    ) -> Result<(Option<Change>, Saved), Error> {
        let ruleset = self.ruleset(store)?;
        let place = Place { store: store.slug.clone(), scope: cleared.scope().clone() };
        let target = self.target(caller, &cleared, ruleset, &place, leap)?;
        self.save(caller, cleared, ruleset, &place, target, operation)
    }

    /// The gate, with everything it needs looked up.
    pub(crate) fn clear(
        &self,
        caller: &Caller,
        store: &Store,
        scope: &Scope,
        draft: Draft,
    ) -> Result<Result<ClearedDraft, Refusal>, Error> {
        self.clear_as(caller, Deed::Write, store, scope, draft)
    }

    /// As [`Engine::clear`], for what else can be done with a draft.
    pub(crate) fn clear_as(
        &self,
        caller: &Caller,
        deed: Deed,
        store: &Store,
        scope: &Scope,
        draft: Draft,
    ) -> Result<Result<ClearedDraft, Refusal>, Error> {
        let unerased = erasures_are(self.erasures(caller.tenant)?);
        let cleared = self.clear_with(caller, deed, store, scope, draft, &self.ban_keys(caller.tenant)?)?;
        Ok(cleared.map(|cleared| cleared.guarded([unerased])))
    }

    pub(crate) fn clear_with(
        &self,
        caller: &Caller,
        deed: Deed,
        store: &Store,
        scope: &Scope,
        draft: Draft,
        keys: &[BanKey],
    ) -> Result<Result<ClearedDraft, Refusal>, Error> {
        let opt_in: Option<OptIn> = self.opt_in(caller)?;
        let let_through = || self.allow_list(caller.tenant);
        let tally = &self.known.tally;
        let counted = self.settings.classifier.as_deref().map(|classifier| Counted { classifier, tally });
        let ground = Ground {
            caller,
            deed,
            store,
            ruleset: self.ruleset(store)?,
            scope,
            limits: self.limits(),
            pipeline_enabled: opt_in.is_some(),
            content_bytes_max: opt_in.and_then(|opt_in| opt_in.max_content_bytes),
            memory_enabled: !self.settings.memory_off,
            sources_trust: match deed {
                Deed::Write | Deed::Own | Deed::Enter | Deed::Propose => self.sources_trust(caller, &draft)?,
                // A person looked at it, or it was looked at elsewhere or before.
                Deed::Approve | Deed::Record { .. } | Deed::Restore { .. } => None,
            },
            let_through: &let_through,
            classifier: match deed {
                Deed::Write | Deed::Enter | Deed::Propose => counted.as_ref().map(|counted| counted as &dyn Classifier),
                // A person looks at it, or somebody did elsewhere or before.
                Deed::Approve | Deed::Record { .. } | Deed::Restore { .. } | Deed::Own => None,
            },
            now: self.clock.now(),
        };
        let cleared = match gate::clear(ground, draft) {
            Ok(cleared) => cleared,
            Err(Stop::Refused(refusal)) => return Ok(Err(refusal)),
            Err(Stop::Failed(error)) => return Err(error),
        };
        // What is only history again does not return to use.
        if matches!(deed, Deed::Record { over: true, .. }) {
            return Ok(Ok(cleared));
        }
        let banned = self.banned(caller.tenant, keys, scope, cleared.draft())?;
        Ok(match banned.ban {
            Some(ban) => Err(ban.refusal()),
            None => Ok(cleared.guarded(banned.guards)),
        })
    }

    pub(crate) fn ruleset(&self, store: &Store) -> Result<&Ruleset, Error> {
        self.settings.rulesets.get(&store.ruleset).ok_or_else(|| {
            let message = format!("store `{}` needs ruleset `{}`, which is not configured", store.slug, store.ruleset);
            Error::invalid("config.ruleset_missing", message)
        })
    }

    /// The least trust among the versions a draft says it is made from. A source the caller cannot see is no source.
    fn sources_trust(&self, caller: &Caller, draft: &Draft) -> Result<Option<crate::model::vocabulary::Trust>, Error> {
        if draft.derived_from.is_empty() {
            return Ok(None);
        }
        let eyes = self.eyes(caller)?;
        let mut least = None;
        for source in &draft.derived_from {
            let version = self.backend.version(&eyes, *source)?;
            let version = version.ok_or_else(|| Error::not_found(format!("source version `{source}`")))?;
            least = Some(least.map_or(version.memory.trust, |trust| version.memory.trust.min(trust)));
        }
        Ok(least)
    }

    fn target(
        &self,
        caller: &Caller,
        cleared: &ClearedDraft,
        ruleset: &Ruleset,
        place: &Place,
        leap: bool,
    ) -> Result<Target, Error> {
        if cleared.state() == State::Constrained {
            return self.draft_target(caller, cleared, place);
        }
        let draft = cleared.draft();
        // Most places are free, and the guard tells where one is not: the first look is spared.
        let leap = leap && draft.expected_sha256.is_none();
        let at = |address| match leap {
            true => Ok(None),
            false => self.backend.get(&Readable::everything(caller.tenant), &address),
        };
        // A path is an address whatever the ruleset: writing to it again is a new version of what stands there.
        if let Some(path) = &draft.path {
            return Ok(match at(Address::Path { place: place.clone(), path: path.clone() })? {
                Some(memory) => Target::Existing(Box::new(memory)),
                None => Target::New {
                    guard: Some(Guard::PathFree { place: place.clone(), path: path.clone() }),
                    near: None,
                },
            });
        }
        match ruleset.dedup {
            Dedup::Exact => {
                let sha256 = content_sha256(&draft.content);
                Ok(match at(Address::Hash { place: place.clone(), sha256: sha256.clone() })? {
                    Some(memory) => Target::Same(Box::new(memory)),
                    None => Target::New { guard: Some(Guard::HashFree { place: place.clone(), sha256 }), near: None },
                })
            }
            Dedup::Hint => self.hint_target(caller, cleared, place),
            Dedup::Path | Dedup::Key | Dedup::None => Ok(Target::New { guard: None, near: None }),
        }
    }

    /// A draft that waits does not touch what stands; writing it again changes the draft.
    fn draft_target(&self, caller: &Caller, cleared: &ClearedDraft, place: &Place) -> Result<Target, Error> {
        let Some(path) = &cleared.draft().path else { return Ok(Target::New { guard: None, near: None }) };
        let filter = Filter {
            places: vec![place.clone()],
            path: Some(path.clone()),
            states: vec![State::Constrained],
            ..Filter::default()
        };
        let page = Page { order: Order::Newest, after: None, limit: self.limits().list_default };
        let waiting = self.backend.list(&Readable::everything(caller.tenant), &filter, &page)?;
        let own = waiting.into_iter().find(|memory| memory.author == caller.principal);
        Ok(match own {
            Some(memory) => Target::Existing(Box::new(memory)),
            None => Target::New { guard: None, near: None },
        })
    }

    /// The memory a note with a similar hint would update, unless it states another fact.
    fn hint_target(&self, caller: &Caller, cleared: &ClearedDraft, place: &Place) -> Result<Target, Error> {
        let draft = cleared.draft();
        let Some(hint) = draft.recall_hint.as_deref() else { return Ok(Target::New { guard: None, near: None }) };
        let generation = self.backend.place(caller.tenant, place)?.generation;
        let filter = Filter { places: vec![place.clone()], ..Filter::default() };
        let find = Find { filter, words: words::query(hint), pool: self.limits().pool_min, ..Find::default() };
        let found = self.backend.find(&Readable::everything(caller.tenant), &find)?;
        let memories: Vec<Memory> = found.candidates.into_iter().map(|candidate| candidate.memory).collect();
        let similarity = |text: &str| self.similarity(&draft.content, text);
        match duplicate::nearest(hint, &draft.content, &memories, self.limits(), similarity) {
            Some((memory, Likeness::Same)) => Ok(Target::Existing(Box::new(memory.clone()))),
            other => {
                let guard = Some(Guard::PlaceUnchanged { place: place.clone(), generation });
                Ok(Target::New { guard, near: other.map(|(memory, _)| memory.id) })
            }
        }
    }

    /// Calibrated similarity of two texts, 0 where there is no instant embedder to ask.
    fn similarity(&self, one: &str, other: &str) -> f64 {
        if !self.embedder.is_instant() {
            return 0.0;
        }
        match (self.embedding(one), self.embedding(other)) {
            (Some(one), Some(other)) => self.embedder.calibration().relevance(one.vector.cosine(&other.vector)),
            _ => 0.0,
        }
    }

    fn save(
        &self,
        caller: &Caller,
        cleared: ClearedDraft,
        ruleset: &Ruleset,
        place: &Place,
        target: Target,
        operation: Operation,
    ) -> Result<(Option<Change>, Saved), Error> {
        let now = self.clock.now();
        let (draft, warnings) = (cleared.draft(), cleared.warnings().to_vec());
        let stamp = Stamp::new(caller, self.fresh_version_id(), now, draft.reason.clone());
        let mut change = Change::new(caller.tenant, now);
        let (entry, outcome, deduped_by, near) = match target {
            Target::Existing(_) | Target::Same(_) if draft.create_only => {
                return Err(Error::conflict("conflict.exists", "a memory stands there already"));
            }
            Target::Same(memory) => {
                let (outcome, deduped_by) = (Outcome::Unchanged, Some(ruleset.dedup));
                return Ok((None, Saved { memory: *memory, outcome, deduped_by, near: None, warnings }));
            }
            Target::Existing(current) => {
                self.expected(caller, draft.expected_sha256.as_deref(), &current)?;
                let deduped_by = if draft.path.is_some() { Dedup::Path } else { ruleset.dedup };
                change = change.guard(Guard::VersionIs { memory: current.id, version: current.version });
                let entry = cleared.revise(&current, ruleset, Operation::Update, stamp);
                (entry, Outcome::Updated, Some(deduped_by), None)
            }
            Target::New { guard, near } => {
                if draft.expected_sha256.is_some() {
                    return Err(Error::conflict(
                        "conflict.nothing_there",
                        "nothing stands at this path to compare with",
                    ));
                }
                change.guards.extend(guard);
                let entry = cleared.create(self.fresh_memory_id(), caller, ruleset, operation, stamp);
                (entry, Outcome::Created, None, near)
            }
        };
        if outcome == Outcome::Created {
            change = self.making_room(caller, place, ruleset, 1, change)?;
        }
        if let (true, Some(saves_max)) = (caller.unattended, ruleset.unattended_saves_max) {
            let run = caller.run.clone().ok_or_else(unattended_without_run)?;
            change = change.guard(Guard::RunSavesLeft { run: run.clone(), saves_max }).write(Write::RunSave { run });
        }
        let embedding = self.embedding_at_save(entry.memory());
        let entry = entry.with_embedding(embedding);
        let memory = entry.memory().clone();
        if memory.state == State::Constrained {
            change = self.with_draft_review(caller, change, &memory)?;
        }
        let change = self.written(caller, change, entry, outcome);
        Ok((Some(change), Saved { memory, outcome, deduped_by, near, warnings }))
    }

    /// The entry and the events that tell of it.
    pub(crate) fn written(&self, caller: &Caller, change: Change, entry: Entry, outcome: Outcome) -> Change {
        let touches =
            self.touches(caller, Touch::Written, std::iter::once((entry.memory().id, entry.memory().version)));
        let mut change = self.with_entry(caller, change, entry, outcome);
        change.writes.extend(touches);
        change
    }

    /// The same for what waits for a person: whoever puts it up says that it is proposed.
    pub(crate) fn with_entry(&self, caller: &Caller, change: Change, entry: Entry, outcome: Outcome) -> Change {
        let memory = entry.memory();
        let name = if outcome == Outcome::Created { EventName::WriteCreated } else { EventName::WriteUpdated };
        let event = Happening::new(name, caller, change.at)
            .about(memory)
            .with("sha256", &memory.sha256)
            .with("operation", entry.operation());
        self.known.tally.flagged(&memory.flags);
        let flagged = (!memory.flags.is_empty()).then(|| {
            Happening::new(EventName::SafetyFlagged, caller, change.at).about(memory).with("rules", &memory.flags)
        });
        let mut change = change.event(event);
        change.guards.extend(entry.guards().iter().cloned());
        change.events.extend(flagged);
        change.write(Write::Entry(Box::new(entry)))
    }

    /// The caller believes this sha256 stands there; where it does not, nothing changes and he is told what does.
    pub(crate) fn expected(&self, caller: &Caller, expected: Option<&str>, current: &Memory) -> Result<(), Error> {
        match expected {
            Some(expected) if !expected.eq_ignore_ascii_case(&current.sha256) => {
                Err(self.changed_since(caller, current))
            }
            _ => Ok(()),
        }
    }

    /// What somebody is told who looked at another version: what stands there now. So he has read it.
    pub(crate) fn changed_since(&self, caller: &Caller, current: &Memory) -> Error {
        self.were_read(caller, [current]);
        Error::Conflict(Conflict {
            code: "conflict.sha256",
            reason: "the memory has changed since you read it".to_owned(),
            current: Some(Current {
                sha256: current.sha256.clone(),
                version: current.version.to_string(),
                excerpt: current.excerpt(self.limits().conflict_excerpt_chars),
            }),
        })
    }
}

/// Its saves are counted by run, and counted for the agent's whole life they would soon be used up.
fn unattended_without_run() -> Error {
    Error::invalid("scope.run_missing", "an unattended save is counted by run, and none is named")
}
