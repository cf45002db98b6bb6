//! `pipeline`: whose agents have memory.

use clap::{Args, Subcommand};
use engine::tenant::pipelines::OptIn;
use engine::text::count::counted;
use serde::Serialize;
use serde_json::json;

use crate::commands::Job;
use crate::error::Failure;
use crate::output::{Output, Tone};

#[derive(Debug, Args)]
pub struct Pipeline {
    #[command(subcommand)]
    deed: Deed,
}

#[derive(Debug, Subcommand)]
enum Deed {
    /// Turn an agent's memory on
    Enable(Enable),
    /// Turn an agent's memory off; what was saved is kept
    Disable {
        #[arg(help = "Name of the pipeline")]
        name: String,
        #[arg(long, help = "Name of the agent")]
        agent: String,
    },
    /// Delete a pipeline with all its memories and their history
    Delete {
        #[arg(help = "Name of the pipeline")]
        name: String,
    },
    /// Show who has memory
    List {
        #[arg(help = "Only this pipeline")]
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
struct Enable {
    #[arg(help = "Name of the pipeline")]
    name: String,
    #[arg(long, help = "Name of the agent")]
    agent: String,
    /// Most memories one recall returns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_recall: Option<u32>,
    /// Most bytes of one memory
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    max_content_bytes: Option<u64>,
}

#[derive(Serialize)]
struct PipelinesView {
    pipelines: Vec<OptIn>,
}

impl Pipeline {
    pub fn run(self, job: &Job<'_>) -> Result<(), Failure> {
        let (engine, caller) = (&job.session.engine, &job.session.caller);
        match self.deed {
            Deed::Enable(enable) => set(job, enable, true),
            Deed::Disable { name, agent } => {
                let known = engine.opt_ins(caller, Some(&name))?.into_iter().find(|opt_in| opt_in.agent == agent);
                let missing =
                    || engine::model::error::Error::not_found(format!("agent `{agent}` of pipeline `{name}`"));
                let OptIn { max_recall, max_content_bytes, .. } = known.ok_or_else(missing)?;
                set(job, Enable { name, agent, max_recall, max_content_bytes }, false)
            }
            Deed::Delete { name } => {
                let erased = engine.delete_pipeline(caller, &name)?;
                let view = json!({ "status": "deleted", "pipeline": name, "memories": erased });
                job.output.answer(&view, || {
                    let erased = counted(erased, "memory", "memories");
                    format!("{} pipeline {name} and {erased}", job.output.paint(Tone::Good, "deleted"))
                })
            }
            Deed::List { name } => {
                let view = PipelinesView { pipelines: engine.opt_ins(caller, name.as_deref())? };
                job.output.answer(&view, || table(job.output, &view.pipelines))
            }
        }
    }
}

fn set(job: &Job<'_>, enable: Enable, enabled: bool) -> Result<(), Failure> {
    let Enable { name, agent, max_recall, max_content_bytes } = enable;
    let changed_at = job.session.engine.clock.now();
    let opt_in = OptIn { pipeline: name, agent, enabled, max_recall, max_content_bytes, changed_at };
    let opt_in = job.session.engine.set_opt_in(&job.session.caller, opt_in)?;
    let word = if enabled { "enabled" } else { "disabled" };
    job.output.answer(&opt_in, || {
        let word = job.output.paint(Tone::Good, word);
        format!("{word} memory of agent {} in pipeline {}", opt_in.agent, opt_in.pipeline)
    })
}

fn table(output: &Output, opt_ins: &[OptIn]) -> String {
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
    output.table(&["pipeline", "agent", "memory", "max recall", "max bytes"], opt_ins.iter().map(row))
}
