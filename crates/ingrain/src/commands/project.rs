//! `project`: lists, shows, renames, merges and deletes projects.

use clap::{Args, Subcommand};
use engine::model::caller::Caller;
use engine::text::plural::format_count;
use engine::{EraseTarget, ProjectSummary};
use serde_json::json;

use crate::commands::Job;
use crate::config::{Config, Environment};
use crate::error::Failure;
use crate::output::{Output, Tone};
use crate::project::{FoundProject, ProjectFinder, ProjectSource};

#[derive(Debug, Args)]
pub struct ProjectArgs {
    #[command(subcommand)]
    command: ProjectCommand,
}

#[derive(Debug, Subcommand)]
enum ProjectCommand {
    /// List the projects with their memories
    List,
    /// Show one project; without a name, that of the working directory and where its name comes from
    Show {
        #[arg(help = "Name of the project")]
        name: Option<String>,
    },
    /// Give a project another name; the old one keeps working
    Rename {
        #[arg(help = "Name of the project")]
        from: String,
        #[arg(help = "New name")]
        to: String,
    },
    /// Make a project part of another one; members of either read both
    Merge {
        #[arg(help = "Project that becomes part of the other")]
        from: String,
        #[arg(help = "The other project")]
        into: String,
    },
    /// Undo a rename or merge
    Unmerge {
        #[arg(help = "Former name, or project that was merged")]
        name: String,
    },
    /// Delete a project with all its memories and their history (no undo)
    Delete {
        #[arg(help = "Name of the project")]
        name: String,
        #[arg(long, help = "Reason, kept in the certificate")]
        reason: Option<String>,
    },
    /// Let the .ingrain.toml of the working directory name a project that other folders use
    Allow,
}

impl ProjectArgs {
    pub fn run(self, job: &Job<'_>, config: &Config, environment: &Environment) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        let finder = ProjectFinder::new(config, environment);
        match self.command {
            ProjectCommand::List => {
                let projects = engine.projects(caller)?;
                job.output.print_answer(&json!({ "projects": projects }), || render_projects(job.output, &projects))
            }
            ProjectCommand::Show { name: Some(name) } => print_project(job, &engine.project(caller, &name)?),
            ProjectCommand::Show { name: None } => show_own_folder(job, &finder),
            ProjectCommand::Rename { from, to } => {
                let project = engine.rename_project(caller, &from, &to)?;
                finder.reserve(&to);
                print_project(job, &project)
            }
            ProjectCommand::Merge { from, into } => print_project(job, &engine.merge_project(caller, &from, &into)?),
            ProjectCommand::Unmerge { name } => print_project(job, &engine.unmerge_project(caller, &name)?),
            ProjectCommand::Delete { name, reason } => delete_project(job, &name, reason),
            ProjectCommand::Allow => allow_own_folder(job, &finder),
        }
    }
}

fn delete_project(job: &Job<'_>, name: &str, reason: Option<String>) -> Result<(), Failure> {
    let (engine, caller) = (&job.session.engine, &job.session.caller);
    // Fails where there is no such project.
    let project = engine.project(caller, name)?;
    let certificate = engine.erase(caller, &EraseTarget::Project(name.to_owned()), reason, true)?;
    let view = json!({ "status": "deleted", "project": project.name, "certificate": certificate });
    job.output.print_answer(&view, || {
        let erased = format_count(certificate.memories, "memory", "memories");
        let word = job.output.paint(Tone::Good, "deleted");
        format!("{word} project {} and {erased}\n  certificate {}", project.name, certificate.id)
    })
}

fn show_own_folder(job: &Job<'_>, finder: &ProjectFinder) -> Result<(), Failure> {
    let Some(found) = find_own_folder(finder)? else {
        return job.output.print_answer(&json!({ "project": null }), || {
            "no project: this is your home directory, or a folder around it".to_owned()
        });
    };
    let (engine, caller) = (&job.session.engine, &job.session.caller);
    let in_project = engine.resolve_project(Caller { project: Some(found.name.clone()), ..caller.clone() })?;
    let name = in_project.project.unwrap_or_else(|| found.name.clone());
    // Nothing was saved yet: the folder has a name all the same.
    let project = engine.projects(caller)?.into_iter().find(|project| project.name == name);
    let view = json!({ "name": name, "found": found, "project": project });
    job.output.print_answer(&view, || {
        let mut text = match &project {
            Some(project) => render_project(job.output, project),
            None => format!("{name}\n  nothing saved yet"),
        };
        text += &format!("\n  {}", render_source(&found));
        if let Some(refused) = &found.refused {
            let warning = job.output.paint(Tone::Bad, "not allowed:");
            text += &format!(
                "\n  {warning} {} names project {}, which other folders on this machine use\n  next: `ingrain \
                 project allow`, if you trust this repository with that project's memories",
                refused.file.display(),
                refused.name
            );
        }
        text
    })
}

fn allow_own_folder(job: &Job<'_>, finder: &ProjectFinder) -> Result<(), Failure> {
    let folder = std::env::current_dir().map_err(|error| Failure::unreadable_input(".", &error))?;
    let Some(found) = finder.allow_marker(&folder)? else {
        return Err(Failure::user_error("not_found", "there is no `.ingrain.toml` here or above")
            .with_hint("write one: `project = \"NAME\"`"));
    };
    job.output.print_answer(&found, || {
        format!("{} this folder is now part of project {}", job.output.paint(Tone::Good, "allowed:"), found.name)
    })
}

fn find_own_folder(finder: &ProjectFinder) -> Result<Option<FoundProject>, Failure> {
    let folder = std::env::current_dir().map_err(|error| Failure::unreadable_input(".", &error))?;
    finder.find(&folder)
}

fn print_project(job: &Job<'_>, project: &ProjectSummary) -> Result<(), Failure> {
    job.output.print_answer(project, || render_project(job.output, project))
}

fn render_projects(output: &Output, projects: &[ProjectSummary]) -> String {
    let row = |project: &ProjectSummary| {
        let last = project.last_saved_at.map_or_else(String::new, |at| at.to_string());
        vec![project.name.clone(), project.memories.to_string(), last, project.merged.join(", ")]
    };
    output.render_table(&["project", "memories", "last saved", "also named"], projects.iter().map(row))
}

fn render_project(output: &Output, project: &ProjectSummary) -> String {
    let mut lines = vec![output.paint(Tone::Good, &project.name)];
    lines.push(format!("  {}", format_count(project.memories, "memory", "memories")));
    lines.extend(project.stores.iter().map(|(store, live)| format!("    {store}  {live}")));
    lines.extend(project.last_saved_at.map(|at| format!("  last saved {at}")));
    lines.extend(project.merged.iter().map(|name| format!("  also named {name}")));
    lines.join("\n")
}

fn render_source(found: &FoundProject) -> String {
    let path = found.path.display();
    match found.source {
        ProjectSource::Marker => format!("named by {path}"),
        ProjectSource::GitRemote => format!("named after the git remote of {path}"),
        ProjectSource::GitRoot => format!("named after the git repository {path}"),
        ProjectSource::Folder => format!("named after the folder {path}"),
    }
}
