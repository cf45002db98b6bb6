//! `profile`, `semantic`, `procedural`: proposals for layered memory, always decided in a review.

use clap::{Args, Subcommand};
use engine::text::plural::format_count;
use engine::{ConsolidationGroup, ProfileProposal};
use serde_json::{Value, json};

use crate::commands::{Job, propose};
use crate::error::Failure;
use crate::json_views::HitView;
use crate::output::Tone;
use crate::text_io::one_line;

#[derive(Debug, Args)]
pub struct ProfileArgs {
    #[command(subcommand)]
    command: ProfileCommand,
}

#[derive(Debug, Subcommand)]
enum ProfileCommand {
    /// Propose a profile fact, for example a preference
    Propose {
        /// Subject of the fact, for example `editor`
        #[arg(long, alias = "profile-key")]
        key: String,
        /// Value of the fact
        #[arg(long)]
        value: String,
        /// Reason, shown to the reviewer
        #[arg(long, default_value = "")]
        reason: String,
        /// Store of the fact; default: layers
        #[arg(long, value_name = "SLUG")]
        store: Option<String>,
    },
}

impl ProfileArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let ProfileCommand::Propose { key, value, reason, store } = self.command;
        let proposal = ProfileProposal { store, key, value, reason };
        propose::print_proposal(job, job.session.engine.propose_profile(&job.session.caller, proposal)?)
    }
}

#[derive(Debug, Args)]
pub struct SemanticArgs {
    #[command(subcommand)]
    command: SemanticCommand,
}

#[derive(Debug, Subcommand)]
enum SemanticCommand {
    /// Find memories that say the same; writes nothing without --create-proposals
    Compact(GroupingArgs),
}

impl SemanticArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let SemanticCommand::Compact(grouping) = self.command;
        let engine = &job.session.engine;
        grouping.print_groups(
            job,
            &engine.compact(&job.session.caller, grouping.store.as_deref(), grouping.create_proposals)?,
        )
    }
}

#[derive(Debug, Args)]
pub struct ProceduralArgs {
    #[command(subcommand)]
    command: ProceduralCommand,
}

#[derive(Debug, Subcommand)]
enum ProceduralCommand {
    /// Find procedures of the same workflow; writes nothing without --create-proposals
    Dedup(GroupingArgs),
}

impl ProceduralArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let ProceduralCommand::Dedup(grouping) = self.command;
        let engine = &job.session.engine;
        grouping.print_groups(
            job,
            &engine.dedup(&job.session.caller, grouping.store.as_deref(), grouping.create_proposals)?,
        )
    }
}

#[derive(Debug, Args)]
struct GroupingArgs {
    /// Create a proposal for each group, for a reviewer to confirm
    #[arg(long)]
    create_proposals: bool,
    /// Only this store
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
}

impl GroupingArgs {
    fn print_groups(&self, job: &Job<'_>, groups: &[ConsolidationGroup]) -> Result<(), Failure> {
        let group = |group: &ConsolidationGroup| {
            json!({
                "shared": group.key,
                "members": group.members.iter().map(|memory| memory.id).collect::<Vec<_>>(),
                "canonical": group.members.first().map(|memory| memory.id),
                "content": group.content,
                "review": group.review,
                "refused": group.refused,
            })
        };
        let proposed = groups.iter().filter(|group| group.review.is_some()).count();
        let view = json!({
            "dry_run": !self.create_proposals,
            "groups": groups.iter().map(group).collect::<Vec<Value>>(),
            "proposals": groups.iter().filter_map(|group| group.review.as_deref()).collect::<Vec<_>>(),
            "proposed": proposed,
        });
        job.output.print_answer(&view, || {
            if groups.is_empty() {
                return "nothing to propose".to_owned();
            }
            let line = |group: &ConsolidationGroup| {
                let ids: Vec<String> = group.members.iter().map(|memory| memory.id.to_string()).collect();
                let review = match (&group.review, &group.refused) {
                    (Some(review), _) => format!("review {}", review.id),
                    (None, Some(refusal)) => refusal.message.clone(),
                    (None, None) => "not proposed".to_owned(),
                };
                vec![one_line(&group.key), ids.join(" "), one_line(&group.content), review]
            };
            let table =
                job.output.render_table(&["shared", "members", "proposed content", ""], groups.iter().map(line));
            let end = match self.create_proposals {
                true => {
                    let made = job.output.paint(Tone::Good, "created");
                    format!("{made} {}", format_count(proposed, "proposal", "proposals"))
                }
                false => "dry run: `--create-proposals` proposes these for review".to_owned(),
            };
            format!("{table}\n{end}")
        })
    }
}

/// `memory context`: memories for planning a goal.
#[derive(Debug, Args)]
pub struct PlanContextArgs {
    /// Goal to plan for
    goal: String,
}

impl PlanContextArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let context = job.session.engine.layer_context(&job.session.caller, &self.goal)?;
        let layers =
            [("profile", &context.profile), ("procedural", &context.procedural), ("semantic", &context.semantic)];
        let hit_views =
            |hits: &Vec<engine::recall::ranking::Hit>| json!(hits.iter().map(HitView::from).collect::<Vec<_>>());
        let views: serde_json::Map<String, Value> =
            layers.iter().map(|(name, hits)| ((*name).to_owned(), hit_views(hits))).collect();
        job.output.print_answer(&json!({ "memory_context": views }), || {
            let rows = layers.iter().flat_map(|(name, hits)| {
                hits.iter()
                    .map(|hit| vec![(*name).to_owned(), one_line(hit.memory.summary_line()), hit.memory.id.to_string()])
            });
            job.output.render_table(&["layer", "summary", "id"], rows)
        })
    }
}
