//! The tools a caller is offered: the configured toolsets, reduced to what the caller may do.

use engine::Engine;
use engine::model::caller::Caller;
use engine::vocabulary;

use super::DoorSetup;
use super::tool::{ToolEffect, ToolSpec};
use super::toolsets::{anthropic, core, episodic, lesson, note};

vocabulary! {
    /// A family of tools.
    Toolset ("toolset") {
        Core = "core",
        Lesson = "lesson",
        Note = "note",
        Episodic = "episodic",
        Anthropic = "anthropic",
    }
}

vocabulary! {
    /// When the tools that write are offered.
    WriteTools ("write-tools mode") {
        Always = "always",
        /// After a call of `load_toolset`.
        OnDemand = "on-demand",
        Never = "never",
    }
}

/// Finds a tool by its name, whether it is offered or not.
pub(super) fn find_tool(name: &str) -> Option<&'static ToolSpec> {
    let toolsets = [core::TOOLS, lesson::TOOLS, note::TOOLS, episodic::TOOLS, anthropic::TOOLS];
    toolsets.into_iter().flatten().chain([&core::LOAD_TOOLSET]).find(|spec| spec.name == name)
}

/// The offered tools, in a fixed order.
pub(super) fn select_tools(
    engine: &Engine,
    caller: &Caller,
    setup: &DoorSetup,
    writes_loaded: bool,
) -> Vec<&'static ToolSpec> {
    let mut specs: Vec<&'static ToolSpec> = Vec::new();
    // In the order of the vocabulary, so that the list is the same however the operator spelled the setting.
    for toolset in Toolset::ALL.iter().filter(|toolset| setup.toolsets.contains(toolset)) {
        match toolset {
            Toolset::Core => specs.extend(core::TOOLS),
            // Memory of a pipeline's agents is opt-in; without it these tools are not offered.
            Toolset::Lesson if matches!(engine.opt_in(caller), Ok(Some(_))) => specs.extend(lesson::TOOLS),
            Toolset::Lesson => {}
            Toolset::Note => specs.extend(note::TOOLS),
            Toolset::Episodic => specs.extend(episodic::TOOLS),
            Toolset::Anthropic => specs.extend(anthropic::TOOLS),
        }
    }
    if setup.write_tools == WriteTools::OnDemand {
        specs.push(&core::LOAD_TOOLSET);
    }
    let allowed = |spec: &&'static ToolSpec| match spec.effect {
        // Tools the caller may not use are hidden, so that a model does not try them.
        _ if !caller.rules.read => false,
        ToolEffect::Read => true,
        // Of every toolset: a model that has not asked for them cannot write.
        _ if !writes_loaded => false,
        ToolEffect::Write | ToolEffect::Files => caller.rules.manage && setup.write_tools != WriteTools::Never,
        // Nobody is there to confirm a deletion in an unattended run.
        ToolEffect::Delete => caller.rules.manage && !caller.unattended && setup.write_tools != WriteTools::Never,
    };
    specs.retain(allowed);
    specs
}
