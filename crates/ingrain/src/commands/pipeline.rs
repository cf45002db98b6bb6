//! `pipeline`: opt-ins that turn memory on for agents of a pipeline.

use clap::{Args, Subcommand};
use engine::tenant::pipelines::OptIn;
use engine::text::plural::format_count;
use serde::Serialize;
use serde_json::json;

use crate::commands::Job;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct PipelineArgs {
    #[command(subcommand)]
    command: PipelineCommand,
}

#[derive(Debug, Subcommand)]
enum PipelineCommand {
    /// Turn memory on for an agent
    Enable(EnableMemoryArgs),
    /// Turn memory off for an agent; its memories are kept
    Disable {
        #[arg(help = "Name of the pipeline")]
        name: String,
        #[arg(long, help = "Name of the agent")]
        agent: String,
    },
    /// Delete a pipeline with all its memories and their history (no undo)
    Delete {
        #[arg(help = "Name of the pipeline")]
        name: String,
    },
    /// List the agents with memory on or off
    List {
        #[arg(help = "Only this pipeline")]
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
struct EnableMemoryArgs {
    #[arg(help = "Name of the pipeline")]
    name: String,
    #[arg(long, help = "Name of the agent")]
    agent: String,
    /// Maximum number of memories per recall; default: the setting `limits.lesson_recall_max`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_recall: Option<u32>,
    /// Maximum size of one memory in bytes; default: the limit of the ruleset
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    max_content_bytes: Option<u64>,
}

#[derive(Serialize)]
struct PipelinesView {
    pipelines: Vec<OptIn>,
}

impl PipelineArgs {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.command {
            // The whole record is written: enabling again without limits resets them to the defaults.
            PipelineCommand::Enable(enable) => {
                let known = engine.opt_ins(caller, Some(&enable.name))?;
                let known = known.into_iter().find(|opt_in| opt_in.agent == enable.agent);
                // The whole record is written: limits that are not given stay as they are.
                let max_recall = enable.max_recall.or(known.as_ref().and_then(|opt_in| opt_in.max_recall));
                let max_content_bytes =
                    enable.max_content_bytes.or(known.as_ref().and_then(|opt_in| opt_in.max_content_bytes));
                set_opt_in(job, EnableMemoryArgs { max_recall, max_content_bytes, ..enable }, true)
            }
            PipelineCommand::Disable { name, agent } => {
                let known = engine.opt_ins(caller, Some(&name))?.into_iter().find(|opt_in| opt_in.agent == agent);
                let missing =
                    || engine::model::error::Error::not_found(format!("agent `{agent}` of pipeline `{name}`"));
                // The whole record is written, so the limits must be repeated to keep them.
                let OptIn { max_recall, max_content_bytes, .. } = known.ok_or_else(missing)?;
                set_opt_in(job, EnableMemoryArgs { name, agent, max_recall, max_content_bytes }, false)
            }
            PipelineCommand::Delete { name } => {
                let erased = engine.delete_pipeline(caller, &name)?;
                let view = json!({ "status": "deleted", "pipeline": name, "memories": erased });
                job.output.print_answer(&view, || {
                    let erased = format_count(erased, "memory", "memories");
                    format!("{} pipeline {name} and {erased}", job.output.paint(Tone::Good, "deleted"))
                })
            }
            PipelineCommand::List { name } => {
                let view = PipelinesView { pipelines: engine.opt_ins(caller, name.as_deref())? };
                job.output.print_answer(&view, || render_opt_ins(job.output, &view.pipelines))
            }
        }
    }
}

fn set_opt_in(job: &Job<'_>, enable: EnableMemoryArgs, enabled: bool) -> Result<(), Failure> {
    let EnableMemoryArgs { name, agent, max_recall, max_content_bytes } = enable;
    let changed_at = job.session.engine.clock.now();
    let opt_in = OptIn { pipeline: name, agent, enabled, max_recall, max_content_bytes, changed_at };
    let opt_in = job.session.engine.set_opt_in(&job.session.caller, opt_in)?;
    let word = if enabled { "enabled" } else { "disabled" };
    job.output.print_answer(&opt_in, || {
        let word = job.output.paint(Tone::Good, word);
        format!("{word} memory of agent {} in pipeline {}", opt_in.agent, opt_in.pipeline)
    })
}

fn render_opt_ins(output: &Output, opt_ins: &[OptIn]) -> String {
    let or_default = |value: Option<u64>| value.map_or_else(|| "default".to_owned(), |value| value.to_string());
    let row = |opt_in: &OptIn| {
        vec![
            opt_in.pipeline.clone(),
            opt_in.agent.clone(),
            if opt_in.enabled { "on" } else { "off" }.to_owned(),
            or_default(opt_in.max_recall.map(u64::from)),
            or_default(opt_in.max_content_bytes),
        ]
    };
    output.render_table(&["pipeline", "agent", "memory", "max recall", "max bytes"], opt_ins.iter().map(row))
}
