//! Import: through the gate like everything else. Doing it again changes nothing.

use crate::Engine;
use crate::admin::export::{Exported, Story, StoryVersion};
use crate::gate::{Deed, Entry, Stamp};
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventName, Happening};
use crate::model::id::StoreId;
use crate::model::memory::{Draft, Memory};
use crate::model::refusal::Refusal;
use crate::model::store::Store;
use crate::model::vocabulary::{Operation, Role, State};
use crate::policy::{Permit, Readable};
use crate::ports::change::{Change, Guard, Place, Write};
use crate::ports::row::{Kept, RowKind};
use crate::ports::{Address, StoreError};
use crate::tenant::bans::{BanKey, KEYS_MAX};
use crate::tenant::pipelines::admins_only;
use crate::write::remember::{Outcome, Remembered};

/// What an import did.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct ImportDone {
    pub imported: u64,
    /// Already here.
    pub unchanged: u64,
    /// What is no longer in use where it comes from, and so is not saved as new here.
    pub left_behind: u64,
    pub refused: Vec<ImportRefused>,
}

/// One piece that was not taken, and why. Never the text.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ImportRefused {
    pub what: String,
    pub code: String,
    pub message: String,
}

/// What happened to one piece.
enum Taken {
    New,
    Known,
    LeftBehind,
    Refused(Refusal),
}

impl Engine {
    /// Takes one piece of an export. Admins get the whole story back; what others bring is saved as new.
    pub fn import(&self, caller: &Caller, piece: Exported, done: &mut ImportDone) -> Result<(), Error> {
        self.is_on()?;
        let name = name_of(&piece);
        let taken = match piece {
            Exported::Memory(story) if caller.role == Role::Admin => self.import_story(caller, &story),
            Exported::Memory(story) => self.import_draft(caller, story.memory.state, draft_of(&story)),
            Exported::Store(store) => self.import_store(caller, store),
            Exported::Review(review) => self.import_row(caller, &*review),
            Exported::Ban(ban) => self.import_row(caller, &ban),
            Exported::BanKey(key) => self.import_key(caller, &key),
            Exported::Owners(owners) => self.import_row(caller, &owners),
            Exported::Run(run) => self.import_row(caller, &run),
        };
        note(done, &name, taken)
    }

    /// Takes one memory as somebody wrote it down, such as a Markdown file. Only what is active is saved.
    pub fn import_markdown(
        &self,
        caller: &Caller,
        store: &str,
        text: &str,
        done: &mut ImportDone,
    ) -> Result<(), Error> {
        self.is_on()?;
        let (draft, state) = match crate::admin::export::markdown::parse(text, store) {
            Ok(parsed) => parsed,
            Err(error) => return note(done, store, Err(error)),
        };
        let name = format!("{}/{}", draft.store, draft.path.as_deref().unwrap_or("(no path)"));
        let state = state.map_or(Ok(State::Active), |state| state.parse());
        let taken = state.and_then(|state| self.import_draft(caller, state, draft));
        note(done, &name, taken)
    }

    fn import_draft(&self, caller: &Caller, state: State, draft: Draft) -> Result<Taken, Error> {
        if state != State::Active {
            // Only an admin's import brings back what is history.
            return Ok(Taken::LeftBehind);
        }
        if self.stands_already(caller, &draft)? {
            return Ok(Taken::Known);
        }
        Ok(match self.remember_as(caller, draft, Deed::Write, Operation::Import)? {
            Remembered::Saved(saved) if saved.outcome == Outcome::Unchanged => Taken::Known,
            Remembered::Saved(_) => Taken::New,
            Remembered::Refused(refusal) => Taken::Refused(refusal),
        })
    }

    /// The same content stands where the draft would go.
    fn stands_already(&self, caller: &Caller, draft: &Draft) -> Result<bool, Error> {
        let store = self.open_store(caller, &draft.store)?;
        let scope = crate::policy::scope_for(caller, store.scope, draft.system.as_deref())?;
        let place = Place { store: store.slug, scope };
        let sha256 = crate::model::memory::content_sha256(&draft.content);
        // By its hash only what has no path is found.
        let address = match draft.path.clone() {
            Some(path) => Address::Path { place, path },
            None => Address::Hash { place, sha256: sha256.clone() },
        };
        let found = self.backend.get(&Readable::everything(caller.tenant), &address)?;
        Ok(found.is_some_and(|memory| memory.sha256 == sha256))
    }

    fn import_store(&self, caller: &Caller, store: Store) -> Result<Taken, Error> {
        if self.backend.row(caller.tenant, RowKind::Stores, &store.slug)?.is_some() {
            return Ok(Taken::Known);
        }
        admins_only(caller)?;
        if self.settings.rulesets.get(&store.ruleset).is_none() {
            let message = format!("ruleset `{}` is not known here: add it to the configuration", store.ruleset);
            return Ok(Taken::Refused(Refusal::new("import.ruleset", message)));
        }
        self.import_row(caller, &Store { id: StoreId(self.clock.fresh_id()), ..store })
    }

    /// Every save is held against every key: no more are taken than it looks at.
    fn import_key(&self, caller: &Caller, key: &BanKey) -> Result<Taken, Error> {
        admins_only(caller)?;
        let keys = self.ban_keys(caller.tenant)?;
        if keys.len() >= KEYS_MAX && !keys.contains(key) {
            let message = format!("{KEYS_MAX} keys of bans are here already");
            return Ok(Taken::Refused(Refusal::new("import.keys", message)));
        }
        self.import_row(caller, key)
    }

    /// Side records are taken where there is none of that id.
    fn import_row<T: Kept>(&self, caller: &Caller, noun: &T) -> Result<Taken, Error> {
        admins_only(caller)?;
        if self.backend.row(caller.tenant, T::KIND, &noun.id())?.is_some() {
            return Ok(Taken::Known);
        }
        let row = noun.to_row();
        // Rationales and comments are text like any other.
        let findings = crate::safety::inspect(&row.body.to_string());
        if findings.iter().any(|finding| finding.concern == crate::safety::Concern::Secret) {
            return Ok(Taken::Refused(Refusal::new("safety.secret_found", "it holds a secret")));
        }
        let guard = Guard::RowIs { kind: T::KIND, id: noun.id(), state: None };
        let now = self.clock.now();
        match self.backend.commit(Change::new(caller.tenant, now).guard(guard).write(Write::Row(row))) {
            Ok(_) => Ok(Taken::New),
            Err(StoreError::Guard(_)) => Ok(Taken::Known),
            Err(error) => Err(error.into()),
        }
    }

    /// A memory with its history, every version through the gate, in one transaction.
    fn import_story(&self, caller: &Caller, story: &Story) -> Result<Taken, Error> {
        let everything = Readable::everything(caller.tenant);
        if let Some(standing) = self.backend.get(&everything, &Address::Id(story.memory.id))? {
            let known = self.backend.version(&everything, story.memory.version)?.is_some();
            return Ok(match known || standing.version == story.memory.version {
                true => Taken::Known,
                false => Taken::Refused(Refusal::new("import.diverged", "this memory has another history here")),
            });
        }
        let now = self.clock.now();
        let mut change = Change::new(caller.tenant, now);
        if let Some(standing) = self.standing_at(caller, story)? {
            let seeded = story.versions.first().is_some_and(|version| version.operation == Operation::Seed);
            match (story.memory.state, standing.sha256 == story.memory.sha256) {
                (State::Active, true) => return Ok(Taken::Known),
                // The seed of this database makes room for what became of it in the other.
                _ if seeded && is_untouched_seed(&standing) => {
                    change = self.making_way(caller, change, &standing, story)
                }
                _ => {}
            }
        }
        // A seed that makes room is still there when the guards are looked at.
        let makes_room = !change.writes.is_empty();
        let mut previous: Option<Memory> = None;
        let mut redacted = Vec::new();
        for version in &story.versions {
            let last = version.memory.version == story.memory.version;
            let entry = match self.recorded(caller, story, version, previous.as_ref())? {
                Ok(entry) => entry,
                Err(refusal) => return Ok(Taken::Refused(self.refuse(caller, &story.memory.store, refusal)?)),
            };
            redacted.extend(version.redacted_at.map(|_| version.memory.version));
            previous = Some(entry.memory().clone());
            if last && entry.memory().state == State::Active && !makes_room {
                let place = Place { store: story.memory.store.clone(), scope: story.memory.scope.clone() };
                change.guards.extend(entry.memory().path.clone().map(|path| Guard::PathFree { place, path }));
            }
            change.guards.extend(entry.guards().iter().filter(|_| last).cloned());
            let embedding = if last { self.embedding_at_save(entry.memory()) } else { None };
            change = change.write(Write::Entry(Box::new(entry.with_embedding(embedding))));
        }
        let Some(stands) = previous else {
            return Ok(Taken::Refused(Refusal::new("import.no_history", "it has no versions")));
        };
        if !redacted.is_empty() {
            change = change.write(Write::Redact { memory: stands.id, versions: redacted });
        }
        self.store_for_write(caller, &stands.store)?;
        let event =
            Happening::new(EventName::WriteCreated, caller, now).about(&stands).with("operation", Operation::Import);
        match self.backend.commit(change.event(event)) {
            Ok(_) => Ok(Taken::New),
            Err(StoreError::Guard(guard)) => {
                let message = match guard {
                    Guard::PathFree { path, .. } => format!("another memory stands at `{path}`"),
                    _ => "another write came first".to_owned(),
                };
                Ok(Taken::Refused(Refusal::new("import.taken", message)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What stands at the path a story had.
    fn standing_at(&self, caller: &Caller, story: &Story) -> Result<Option<Memory>, Error> {
        let Some(path) = story.memory.path.clone() else { return Ok(None) };
        let place = Place { store: story.memory.store.clone(), scope: story.memory.scope.clone() };
        Ok(self.backend.get(&Readable::everything(caller.tenant), &Address::Path { place, path })?)
    }

    fn making_way(&self, caller: &Caller, change: Change, standing: &Memory, story: &Story) -> Change {
        let stamp = Stamp::new(caller, self.fresh_version_id(), change.at, Some("replaced by an import".to_owned()));
        let entry = Entry::transition(standing, Operation::Supersede, stamp, Vec::new(), |memory| {
            memory.state = State::Superseded;
            memory.superseded_by = Some(story.memory.id);
        });
        change
            .guard(Guard::VersionIs { memory: standing.id, version: standing.version })
            .write(Write::Entry(Box::new(entry)))
    }

    fn recorded(
        &self,
        caller: &Caller,
        story: &Story,
        version: &StoryVersion,
        previous: Option<&Memory>,
    ) -> Result<Result<Entry, Refusal>, Error> {
        let snapshot = Memory { tenant: caller.tenant, content: version.content.clone(), ..version.memory.clone() };
        let store = self.open_store(caller, &snapshot.store)?;
        if store.scope != snapshot.scope.kind() || snapshot.id != story.memory.id {
            return Err(Error::invalid("import.shape", "a version does not fit its memory or its store"));
        }
        let redacted = version.redacted_at.is_some();
        let mut draft =
            Draft { evidence: version.evidence.clone(), reason: version.reason.clone(), ..Draft::of(&snapshot) };
        if redacted {
            // Nothing to read any more; the gate still looks at the path and the evidence.
            "redacted".clone_into(&mut draft.content);
        }
        // A ban keeps out what would be in use again, not the history of what is not.
        let over = story.memory.state == State::Tombstoned;
        let deed = Deed::Record { permit: Permit { state: snapshot.state, trust: snapshot.trust }, over };
        let cleared = match self.clear_as(caller, deed, &store, &snapshot.scope, draft)? {
            Ok(cleared) => cleared,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let stamp = Stamp {
            version: snapshot.version,
            at: version.at,
            actor: version.actor.clone(),
            run: version.run.clone(),
            conversation: version.conversation.clone(),
            reason: cleared.draft().reason.clone(),
        };
        let entry = cleared.record(&snapshot, previous, version.operation, stamp, redacted);
        Ok(Ok(entry))
    }
}

fn is_untouched_seed(memory: &Memory) -> bool {
    memory.version_number == 1 && memory.author == "ingrain"
}

fn draft_of(story: &Story) -> Draft {
    let evidence = story.versions.last().map(|version| version.evidence.clone()).unwrap_or_default();
    let memory = Memory { content: story.content.clone(), ..story.memory.clone() };
    Draft { evidence, derived_from: Vec::new(), ..Draft::of(&memory) }
}

fn name_of(piece: &Exported) -> String {
    match piece {
        Exported::Store(store) => format!("store {}", store.slug),
        Exported::Memory(story) => format!("memory {}", story.memory.id),
        Exported::Review(review) => format!("review {}", review.id),
        Exported::Ban(ban) => format!("ban in {}", ban.scope),
        Exported::BanKey(_) => "key of bans".to_owned(),
        Exported::Owners(owners) => format!("owners of {}", owners.store),
        Exported::Run(run) => format!("run {}", run.id),
    }
}

/// A piece that cannot be taken does not end the import; a store that broke does.
fn note(done: &mut ImportDone, what: &str, taken: Result<Taken, Error>) -> Result<(), Error> {
    let refused = |code: &str, message: String| ImportRefused { what: what.to_owned(), code: code.to_owned(), message };
    match taken {
        Ok(Taken::New) => done.imported += 1,
        Ok(Taken::Known) => done.unchanged += 1,
        Ok(Taken::LeftBehind) => done.left_behind += 1,
        Ok(Taken::Refused(refusal)) => done.refused.push(refused(refusal.code, refusal.message)),
        Err(error @ Error::Store(_)) => return Err(error),
        Err(error) => done.refused.push(refused(error.code(), error.to_string())),
    }
    Ok(())
}
