//! `export --format claude-md|agents-md`: what a store knows as a section of a file that people read and commit. The
//! section is between two marker lines; the rest of the file is never changed.

use std::io::Write;
use std::path::Path;

use engine::ExportPiece;
use engine::model::memory::Memory;
use engine::model::scope::Scope;
use engine::model::store::{PROJECT_MEMORY, find_builtin_store};
use engine::model::vocabulary::State;
use engine::policy::scope_for;

use crate::commands::Job;
use crate::commands::export::{Counts, ProgressCounter, write_failure};
use crate::commands::import::default_store;
use crate::error::Failure;
use crate::import_formats::managed_section;
use crate::text_io::read_text_file;

/// Writes the section. An existing file keeps everything else, and its permissions.
pub fn export_section(
    job: &Job<'_>,
    stores: &[String],
    path: &Path,
    progress: &mut ProgressCounter<'_>,
) -> Result<Counts, Failure> {
    let store = match stores {
        [] => default_store(&job.session.caller)?,
        [store] => store.clone(),
        _ => return Err(Failure::user_error("usage", "this format takes one `--store`")),
    };
    let old = match path.exists() {
        true => read_text_file(path)?,
        false => String::new(),
    };
    if managed_section::is_broken(&old) {
        let message =
            format!("the marker lines `<!-- ingrain:… -->` of `{}` do not match; nothing was written", path.display());
        return Err(Failure::user_error("export.broken_markers", message)
            .with_hint("remove the lines that begin with `<!-- ingrain:begin` and `<!-- ingrain:end`"));
    }
    let memories = collect_memories(job, &store, progress)?;
    let section = managed_section::render_part(&name_of(job, &store), &memories);
    let new = managed_section::replace_managed(&old, &section);
    // An equal file is not touched, so that nothing that watches it is disturbed.
    if new != old {
        replace_file(path, &new).map_err(|error| write_failure(path, &error))?;
    }
    Ok(Counts::from([("memories", memories.len() as u64)]))
}

/// Name in the heading.
fn name_of(job: &Job<'_>, store: &str) -> String {
    match &job.session.caller.project {
        Some(project) if store == PROJECT_MEMORY => format!("project `{project}`"),
        _ => format!("`{store}`"),
    }
}

/// Active memories of the store in the caller's own scope, by path.
fn collect_memories(job: &Job<'_>, store: &str, progress: &mut ProgressCounter<'_>) -> Result<Vec<Memory>, Failure> {
    let (engine, caller) = (&job.session.engine, &job.session.caller);
    let known = engine.stores(caller)?.into_iter().find(|known| known.slug == store).map(|known| known.scope);
    let Some(kind) = known else {
        // A store that is made on first use holds nothing yet.
        return match find_builtin_store(store) {
            Some(_) => Ok(Vec::new()),
            None => Err(engine::model::error::Error::NotFound { what: format!("store `{store}`") }.into()),
        };
    };
    // An admin sees the scopes of all callers; a file is about one.
    let own: Scope = scope_for(caller, kind, job.global.system.as_deref())?;
    let is_own = |scope: &Scope| match scope {
        Scope::Project { project } => caller.is_in_project(Some(project)),
        scope => *scope == own,
    };
    let now = engine.clock.now();
    let mut memories = Vec::new();
    engine.export(caller, &[store.to_owned()], |piece| -> Result<(), Failure> {
        let ExportPiece::Memory(story) = piece else { return Ok(()) };
        let memory = Memory { content: story.content, ..story.memory };
        if memory.state == State::Active && is_own(&memory.scope) && !memory.is_expired(now) {
            memories.push(memory);
            progress.count_piece();
        }
        Ok(())
    })?;
    memories.sort_by(|one, other| (&one.path, one.id).cmp(&(&other.path, other.id)));
    Ok(memories)
}

/// Replaces a file at once, through links and with its permissions.
fn replace_file(path: &Path, text: &str) -> std::io::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let permissions = std::fs::metadata(&target).map(|metadata| metadata.permissions()).ok();
    let unfinished = target.with_extension("ingrain-unfinished");
    let write = || {
        let mut file = std::fs::File::create(&unfinished)?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        std::fs::rename(&unfinished, &target)
    };
    write().inspect_err(|_| {
        // The original failure is reported; a failed clean-up is not.
        let _ = std::fs::remove_file(&unfinished);
    })
}
