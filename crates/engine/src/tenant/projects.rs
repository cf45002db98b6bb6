//! Projects: what agents work on. A project exists once something is saved in it. A record is kept only for a project
//! that was renamed or merged into another one; its memories stay where they are, and members of the other read both.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::gate::check_name;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::guard::{Guard, Place};
use crate::model::id::TenantId;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::model::vocabulary::{Role, ScopeKind};
use crate::policy::{Readable, admins_only};
use crate::ports::change::{Change, Write};
use crate::ports::{Filter, PageRequest, SortOrder, row};

/// A project that became part of another one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MergedProject {
    pub name: String,
    /// The project it belongs to now. Never one that was merged itself.
    pub into: String,
    pub merged_by: String,
    pub merged_at: Timestamp,
}

impl SideRecord for MergedProject {
    const KIND: RowKind = RowKind::Projects;
    fn row_id(&self) -> String {
        self.name.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.merged_at
    }
    fn row_parent(&self) -> String {
        self.into.clone()
    }
}

/// The project a name stands for, and the names merged into it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ProjectNames {
    pub name: String,
    pub merged: Vec<String>,
}

/// A project as people see it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProjectSummary {
    pub name: String,
    /// Former names, and projects that were merged into it.
    pub merged: Vec<String>,
    /// Active memories.
    pub memories: u64,
    /// Active memories by store.
    pub stores: BTreeMap<String, u64>,
    pub last_saved_at: Option<Timestamp>,
}

/// Seconds for which another process may not know of a rename or merge.
const NAMES_CACHED_SECS: i64 = 5;

impl Engine {
    /// The caller with its project resolved: the name the project has today, and the ones merged into it. Every door
    /// calls it before the caller is used.
    pub fn resolve_project(&self, caller: Caller) -> Result<Caller, Error> {
        let Some(named) = &caller.project else { return Ok(caller) };
        let names = cached_names(self, caller.tenant, named)?;
        Ok(Caller { project: Some(names.name.clone()), merged_projects: names.merged.clone(), ..caller })
    }

    /// Whether [`Engine::resolve_project`] answers without reading the database.
    pub fn is_project_cached(&self, caller: &Caller) -> bool {
        caller.project.as_ref().is_none_or(|name| fresh_names(self, caller.tenant, name).is_some())
    }

    /// All projects for an admin, else the caller's own; by name.
    pub fn projects(&self, caller: &Caller) -> Result<Vec<ProjectSummary>, Error> {
        let mut summaries: BTreeMap<String, ProjectSummary> = BTreeMap::new();
        let merged = all_merged(self, caller.tenant)?;
        let is_shown = |project: &str| caller.role == Role::Admin || caller.is_in_project(Some(project));
        for (place, live) in self.backend.list_places(caller.tenant, ScopeKind::Project)? {
            let Scope::Project { project } = place.scope else { continue };
            if !is_shown(&project) {
                continue;
            }
            let name = merged.get(&project).map_or(&project, |record| &record.into);
            let summary = summaries.entry(name.clone()).or_insert_with(|| empty_summary(name));
            summary.memories += live;
            *summary.stores.entry(place.store).or_default() += live;
        }
        for record in merged.into_values().filter(|record| is_shown(&record.into)) {
            summaries
                .entry(record.into.clone())
                .or_insert_with(|| empty_summary(&record.into))
                .merged
                .push(record.name);
        }
        let mut projects: Vec<ProjectSummary> = summaries.into_values().collect();
        for project in &mut projects {
            project.last_saved_at = last_save(self, caller.tenant, project)?;
        }
        Ok(projects)
    }

    /// One project, by its name or a former one.
    pub fn project(&self, caller: &Caller, name: &str) -> Result<ProjectSummary, Error> {
        let names = load_names(self, caller.tenant, name)?;
        let found = self.projects(caller)?.into_iter().find(|project| project.name == names.name);
        found.ok_or_else(|| not_found(name))
    }

    /// Gives a project another name. Callers under the old name get it too. Admins only.
    pub fn rename_project(&self, caller: &Caller, from: &str, to: &str) -> Result<ProjectSummary, Error> {
        admins_only(caller)?;
        let is_taken = self.projects(caller)?.iter().any(|project| project.name == to);
        match is_taken {
            true => {
                let reason = format!("there is a project `{to}` already; to join the two, merge them");
                Err(Error::conflict("conflict.project_exists", reason))
            }
            false => record_merge(self, caller, from, to),
        }
    }

    /// Makes a project part of another one: members of either read both, and save into the other. Admins only.
    pub fn merge_project(&self, caller: &Caller, from: &str, into: &str) -> Result<ProjectSummary, Error> {
        admins_only(caller)?;
        check_name("project", into, self.limits())?;
        // Fails where there is no such project: a misspelt name would hide the memories under a new one.
        let into = self.project(caller, into)?.name;
        record_merge(self, caller, from, &into)
    }

    /// Undoes a rename or merge. What was saved since then stays where it was saved. Admins only.
    pub fn unmerge_project(&self, caller: &Caller, name: &str) -> Result<ProjectSummary, Error> {
        admins_only(caller)?;
        let record: Option<MergedProject> = row::get_record(&*self.backend, caller.tenant, name)?;
        let record = record.ok_or_else(|| Error::not_found(format!("merged project `{name}`")))?;
        let now = self.clock.now();
        let event = EventBody::new(EventName::ProjectUnmerged, caller, now)
            .with_field("project", &record.name)
            .with_field("from", &record.into);
        let delete = Write::DeleteRow { kind: RowKind::Projects, id: record.row_id() };
        self.commit(Change::new(caller.tenant, now).with_write(delete).with_event(event))?;
        self.tenant_cache.forget_tenant(caller.tenant);
        self.project(caller, name)
    }
}

/// Records that `from` is now part of `into`, with everything that was part of `from`.
fn record_merge(engine: &Engine, caller: &Caller, from: &str, into: &str) -> Result<ProjectSummary, Error> {
    check_name("project", into, engine.limits())?;
    let names = load_names(engine, caller.tenant, from)?;
    if names.name != from {
        let message = format!("`{from}` is part of `{}` already", names.name);
        return Err(Error::conflict("conflict.project_merged", message));
    }
    if from == into {
        return Err(Error::conflict("conflict.project_merged", "a project cannot become part of itself"));
    }
    let target = load_names(engine, caller.tenant, into)?.name;
    if target != into {
        let message = format!("`{into}` is a former name of `{target}`: unmerge it first");
        return Err(Error::conflict("conflict.project_merged", message));
    }
    engine.project(caller, from)?;
    let now = engine.clock.now();
    let event =
        EventBody::new(EventName::ProjectMerged, caller, now).with_field("project", from).with_field("into", into);
    let mut change = Change::new(caller.tenant, now).with_event(event);
    // A merge of `into` at the same moment would leave a chain of two.
    change = change.with_guard(Guard::RowInState { kind: RowKind::Projects, id: into.to_owned(), state: None });
    for name in names.merged.into_iter().chain([from.to_owned()]) {
        let record = MergedProject { name, into: into.to_owned(), merged_by: caller.principal.clone(), merged_at: now };
        change = change.with_write(Write::Row(record.to_row()));
    }
    engine.commit(change)?;
    engine.tenant_cache.forget_tenant(caller.tenant);
    engine.project(caller, into)
}

/// The name a project has today, and the names merged into it.
pub(crate) fn load_names(engine: &Engine, tenant: TenantId, name: &str) -> Result<ProjectNames, Error> {
    let record: Option<MergedProject> = row::get_record(&*engine.backend, tenant, name)?;
    let name = record.map_or_else(|| name.to_owned(), |record| record.into);
    let filter = RowFilter { parent: Some(name.clone()), limit: engine.limits().list_max, ..RowFilter::default() };
    let merged: Vec<MergedProject> = row::select_records(&*engine.backend, tenant, &filter)?;
    Ok(ProjectNames { name, merged: merged.into_iter().map(|record| record.name).collect() })
}

fn cached_names(engine: &Engine, tenant: TenantId, name: &str) -> Result<Arc<ProjectNames>, Error> {
    if let Some(names) = fresh_names(engine, tenant, name) {
        return Ok(names);
    }
    let names = Arc::new(load_names(engine, tenant, name)?);
    engine.tenant_cache.cache_project_names(tenant, name, &names, engine.clock.now());
    Ok(names)
}

fn fresh_names(engine: &Engine, tenant: TenantId, name: &str) -> Option<Arc<ProjectNames>> {
    let (names, read_at) = engine.tenant_cache.project_names(tenant, name)?;
    let age = engine.clock.now().as_second() - read_at.as_second();
    (0..NAMES_CACHED_SECS).contains(&age).then_some(names)
}

fn all_merged(engine: &Engine, tenant: TenantId) -> Result<BTreeMap<String, MergedProject>, Error> {
    let filter = RowFilter { limit: engine.limits().list_max, ..RowFilter::default() };
    let records: Vec<MergedProject> = row::select_records(&*engine.backend, tenant, &filter)?;
    Ok(records.into_iter().map(|record| (record.name.clone(), record)).collect())
}

fn empty_summary(name: &str) -> ProjectSummary {
    ProjectSummary {
        name: name.to_owned(),
        merged: Vec::new(),
        memories: 0,
        stores: BTreeMap::new(),
        last_saved_at: None,
    }
}

/// Time of the newest memory of a project.
fn last_save(engine: &Engine, tenant: TenantId, project: &ProjectSummary) -> Result<Option<Timestamp>, Error> {
    let names = project.merged.iter().chain([&project.name]);
    let place =
        |name: &String, store: &String| Place { store: store.clone(), scope: Scope::Project { project: name.clone() } };
    let places: Vec<Place> =
        names.flat_map(|name| project.stores.keys().map(move |store| place(name, store))).collect();
    if places.is_empty() {
        return Ok(None);
    }
    let filter = Filter { places, ..Filter::default() };
    let page = PageRequest { order: SortOrder::Newest, after: None, limit: 1 };
    let newest = engine.backend.list_memories(&Readable::whole_tenant(tenant), &filter, &page)?;
    Ok(newest.first().map(|memory| memory.updated_at))
}

fn not_found(name: &str) -> Error {
    Error::not_found(format!("project `{name}`"))
}
