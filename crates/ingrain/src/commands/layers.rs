//! `profile`, `semantic`, `procedural`: the layers of 003, always through review.

use clap::{Args, Subcommand};
use engine::text::count::counted;
use engine::{Group, ProfileProposal};
use serde_json::{Value, json};

use crate::commands::{Job, propose};
use crate::error::Failure;
use crate::output::Tone;
use crate::text::one_line;
use crate::view::HitView;

#[derive(Debug, Args)]
pub struct Profile {
    #[command(subcommand)]
    deed: ProfileDeed,
}

#[derive(Debug, Subcommand)]
enum ProfileDeed {
    /// Propose a fact that should stand, such as a preference
    Propose {
        /// What it is about, such as `editor`
        #[arg(long, alias = "profile-key")]
        key: String,
        /// What holds
        #[arg(long)]
        value: String,
        /// Why
        #[arg(long, default_value = "")]
        reason: String,
        /// The store to keep it in; default: layers
        #[arg(long, value_name = "SLUG")]
        store: Option<String>,
    },
}

impl Profile {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let ProfileDeed::Propose { key, value, reason, store } = self.deed;
        let proposal = ProfileProposal { store, key, value, reason };
        propose::answer(job, job.session.engine.propose_profile(&job.session.caller, proposal)?)
    }
}

#[derive(Debug, Args)]
pub struct Semantic {
    #[command(subcommand)]
    deed: SemanticDeed,
}

#[derive(Debug, Subcommand)]
enum SemanticDeed {
    /// Find memories that say the same; without the flag nothing is written
    Compact(Grouping),
}

impl Semantic {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let SemanticDeed::Compact(grouping) = self.deed;
        let engine = &job.session.engine;
        grouping
            .answer(job, &engine.compact(&job.session.caller, grouping.store.as_deref(), grouping.create_proposals)?)
    }
}

#[derive(Debug, Args)]
pub struct Procedural {
    #[command(subcommand)]
    deed: ProceduralDeed,
}

#[derive(Debug, Subcommand)]
enum ProceduralDeed {
    /// Find procedures of the same workflow; without the flag nothing is written
    Dedup(Grouping),
}

impl Procedural {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let ProceduralDeed::Dedup(grouping) = self.deed;
        let engine = &job.session.engine;
        grouping.answer(job, &engine.dedup(&job.session.caller, grouping.store.as_deref(), grouping.create_proposals)?)
    }
}

#[derive(Debug, Args)]
struct Grouping {
    /// Propose what was found, for a person to confirm
    #[arg(long)]
    create_proposals: bool,
    /// Only this store
    #[arg(long, value_name = "SLUG")]
    store: Option<String>,
}

impl Grouping {
    fn answer(&self, job: &Job<'_>, groups: &[Group]) -> Result<(), Failure> {
        let group = |group: &Group| {
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
        job.output.answer(&view, || {
            if groups.is_empty() {
                return "nothing to propose".to_owned();
            }
            let line = |group: &Group| {
                let ids: Vec<String> = group.members.iter().map(|memory| memory.id.to_string()).collect();
                let review = match (&group.review, &group.refused) {
                    (Some(review), _) => format!("review {}", review.id),
                    (None, Some(refusal)) => refusal.message.clone(),
                    (None, None) => "not proposed".to_owned(),
                };
                vec![one_line(&group.key), ids.join(" "), one_line(&group.content), review]
            };
            let table = job.output.table(&["share", "members", "would stand", ""], groups.iter().map(line));
            let end = match self.create_proposals {
                true => {
                    let made = job.output.paint(Tone::Good, "made");
                    format!("{made} {}", counted(proposed, "proposal", "proposals"))
                }
                false => "a dry run: `--create-proposals` puts these up for review".to_owned(),
            };
            format!("{table}\n{end}")
        })
    }
}

/// `memory context`: what planning is given.
#[derive(Debug, Args)]
pub struct PlanContext {
    /// What is to be done
    goal: String,
}

impl PlanContext {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let context = job.session.engine.layer_context(&job.session.caller, &self.goal)?;
        let layers =
            [("profile", &context.profile), ("procedural", &context.procedural), ("semantic", &context.semantic)];
        let of = |hits: &Vec<engine::recall::ranking::Hit>| json!(hits.iter().map(HitView::from).collect::<Vec<_>>());
        let told: serde_json::Map<String, Value> =
            layers.iter().map(|(name, hits)| ((*name).to_owned(), of(hits))).collect();
        job.output.answer(&json!({ "memory_context": told }), || {
            let rows = layers.iter().flat_map(|(name, hits)| {
                hits.iter()
                    .map(|hit| vec![(*name).to_owned(), one_line(hit.memory.summary()), hit.memory.id.to_string()])
            });
            job.output.table(&["layer", "summary", "id"], rows)
        })
    }
}
