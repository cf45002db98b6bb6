//! Filter flags, shared by `search`, `list`, `context` and `why-not`.

use clap::Args;
use engine::gate::normalize_path;
use engine::model::guard::Place;
use engine::model::vocabulary::{Kind, Layer, ScopeKind, State, Trust};
use engine::ports::Filter;

use crate::commands::Job;
use crate::error::Failure;
use crate::text_io::{parse_as_of, parse_time};

#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Only memories of this store (repeatable)
    #[arg(long, value_name = "SLUG")]
    pub store: Vec<String>,
    /// Only this scope: workspace, project, user, conversation, agent, pipeline, system or run (repeatable)
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<ScopeKind>,
    /// Only this layer: profile, episodic, semantic, procedural or working (repeatable)
    #[arg(long, value_name = "LAYER")]
    layer: Vec<Layer>,
    /// Only this kind, for example runbook or lesson (repeatable)
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Only memories with this exact tag (repeatable: all of them)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only this state: active (default), constrained, superseded, archived, tombstoned or all (repeatable)
    #[arg(long, value_name = "STATE", value_parser = parse_states)]
    state: Vec<StateList>,
    /// Minimum trust: agent_draft, user_authored, system_seeded or admin_approved
    #[arg(long, value_name = "TRUST")]
    trust: Option<Trust>,
    /// Only memories updated after this time, date or span before now (7d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only memories updated before this time, date or span before now (7d)
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only paths with this prefix
    #[arg(long, value_name = "PATH")]
    prefix: Option<String>,
    /// State of the memories at a past time, at the end of a day (2026-01-31) or a span ago (7d)
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
}

/// States selected by one `--state`; several for `all`.
type StateList = &'static [State];

fn parse_states(word: &str) -> Result<StateList, String> {
    match word {
        "all" => Ok(State::ALL),
        word => {
            let state: State = word.parse().map_err(|error: engine::model::error::Error| format!("{error}, all"))?;
            // A slice, not a `Vec`: clap gives nested `Vec`s a meaning of their own.
            let at = State::ALL.iter().position(|known| *known == state).unwrap_or_default();
            Ok(&State::ALL[at..=at])
        }
    }
}

impl FilterArgs {
    pub fn to_filter(&self, job: &Job<'_>) -> Result<Filter, Failure> {
        let clock = &*job.session.engine.clock;
        let time = |text: &Option<String>| text.as_deref().map(|text| parse_time(clock, text, false)).transpose();
        Ok(Filter {
            stores: self.store.clone(),
            scopes: self.scope.clone(),
            places: system_places(job)?,
            layers: self.layer.clone(),
            kinds: self.kind.clone(),
            tags: self.tag.clone(),
            states: self.state.iter().flat_map(|states| states.iter().copied()).collect(),
            trust_min: self.trust,
            updated_after: time(&self.since)?,
            updated_before: time(&self.until)?,
            path_prefix: self.prefix.as_deref().map(|prefix| normalize_prefix(job, prefix)).transpose()?,
            as_of: self.as_of.as_deref().map(|text| parse_as_of(clock, text)).transpose()?,
            ..Filter::default()
        })
    }
}

/// Normalizes a prefix like a path, but keeps its trailing slash: `a/` matches only paths below `a`.
fn normalize_prefix(job: &Job<'_>, prefix: &str) -> Result<String, Failure> {
    // A final slash is kept, so that `notes/` does not match `notes-old`.
    let below = if prefix.ends_with('/') { "/" } else { "" };
    match prefix.trim_matches('/') {
        // `/` alone means everything.
        "" => Ok(String::new()),
        path => Ok(normalize_path(path, &job.session.engine.settings.limits)? + below),
    }
}

/// `--system ID`: the places of that system in all stores with system scope.
fn system_places(job: &Job<'_>) -> Result<Vec<Place>, Failure> {
    let Some(system) = &job.global.system else { return Ok(Vec::new()) };
    Ok(job.session.engine.places_of_system(&job.session.caller, system)?)
}
