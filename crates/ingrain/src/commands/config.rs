//! `config show`: every setting and where it comes from.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::config::{LoadedConfig, Setting};
use crate::error::Failure;
use crate::output::Output;
use crate::text_io::one_line;

#[derive(Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigSubcommand,
}

#[derive(Debug, Subcommand)]
enum ConfigSubcommand {
    /// Print each setting with its value, its origin and its environment variable
    Show,
}

impl ConfigArgs {
    pub fn run(self, loaded: &LoadedConfig, output: &Output) -> Result<(), Failure> {
        let ConfigSubcommand::Show = self.command;
        let view = json!({ "file": loaded.file, "file_exists": loaded.file.exists(), "settings": loaded.settings() });
        output.print_answer(&view, || render_settings(output, loaded))
    }
}

fn render_settings(output: &Output, loaded: &LoadedConfig) -> String {
    let row = |setting: &Setting| {
        let value = setting.value.as_str().map_or_else(|| setting.value.to_string(), str::to_owned);
        vec![setting.key.clone(), one_line(&value), setting.from.clone(), setting.variable.clone()]
    };
    let missing = if loaded.file.exists() { "" } else { " (does not exist)" };
    let table = output.render_table(&["setting", "value", "from", "variable"], loaded.settings().iter().map(row));
    format!("config file: {}{missing}\n{table}", loaded.file.display())
}
