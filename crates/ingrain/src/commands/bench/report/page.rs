//! The report as Markdown. The hand-written part below the mark is kept.

use super::targets::{self, Bound, Target};
use super::{Figures, ReportArgs, ReportData, RetrievalReport, SpeedReport};
use crate::commands::bench::doors;
use crate::commands::bench::retrieval::RECALL_HEADER;

/// Text after this line is kept when the page is generated again.
const HAND_WRITTEN_MARK: &str = "<!-- by hand from here on: `ingrain bench report` keeps what is below this line -->";

/// Hand-written part of an earlier page.
pub fn hand_written_part(page: &str) -> &str {
    page.split_once(HAND_WRITTEN_MARK).map_or("", |(_, below)| below.trim())
}

pub fn render_page(measured: &ReportData, args: &ReportArgs, by_hand: &str) -> String {
    let sections = [
        render_heading(measured, args),
        render_targets(&targets::evaluate_targets(measured)),
        format!(
            "## Governance\n\n{} of {} checks of `ingrain bench governance` pass.",
            measured.governance.passed, measured.governance.total
        ),
        render_quality(measured),
        render_speed(&measured.speed),
        HAND_WRITTEN_MARK.to_owned(),
        by_hand.to_owned(),
    ];
    let sections: Vec<String> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    sections.join("\n\n") + "\n"
}

fn render_heading(measured: &ReportData, args: &ReportArgs) -> String {
    let machine = &measured.machine;
    let sizes: Vec<String> = args.sizes.iter().map(usize::to_string).collect();
    let file = if measured.retrieval.is_some() { " --retrieval FILE" } else { "" };
    let warning = match machine.debug {
        true => "\n\n**Made by a debug build: its times are meaningless.**",
        false => "",
    };
    format!(
        "# Benchmarks\n\n\
         Made on {} by ingrain {} ({:.1} MB) on {} cores ({}, {}), default settings unless noted, one run each, \
         SQLite, embedder `{}`.\nCPU time is of the whole process, all threads. Wall time is the time one caller \
         waits; on a busy machine it says little.\n\n\
         Reproduce:\n\n    ingrain bench report --out DIR --sizes {}{file}\n\n\
         The figures vary with the machine's load: see [limits of these figures](#limits-of-these-figures).{warning}",
        machine.date,
        machine.version,
        machine.binary_bytes as f64 / 1e6,
        machine.cores,
        machine.processor,
        machine.system,
        measured.generated.embedder,
        sizes.join(","),
    )
}

fn render_quality(measured: &ReportData) -> String {
    let mut text =
        "## Recall quality\n\nR@N is the share of the answering memories that are among the first N results, in \
         percent. \"Text relevance\" is the text score alone, without the other parts of a ranker."
            .to_owned();
    if let Some(retrieved) = &measured.retrieval {
        let plot = "![Recall by method](benchmarks-quality.svg)";
        text += &format!("\n\n### {}\n\n{plot}\n\n{}", retrieved.name, render_recall_table(&retrieved.report));
        text += "\n\nCategory 5 asks about things that are not in the data; the other rows exclude it.";
    }
    let plot = "![Recall by method on generated notes](benchmarks-generated.svg)";
    text += &format!("\n\n### Generated operational notes\n\n{plot}\n\n{}", render_recall_table(&measured.generated));
    text + "\n\nCategory 1 uses the words of the note, category 2 uses other words. Every note that answers the \
        question counts."
}

fn render_recall_table(report: &RetrievalReport) -> String {
    let rows = report.table_rows(|ranker| format!("ranker `{ranker}`"));
    let about = format!("{} memories, {} refused, embedder `{}`.", report.memories, report.refused, report.embedder);
    format!("{about}\n\n{}", markdown_table(&RECALL_HEADER, &rows))
}

fn render_speed(speed: &[SpeedReport]) -> String {
    let timed = |figures: Option<&Figures>| match figures {
        Some(figures) => {
            [figures.cpu_ms_each, figures.wall_ms_median, figures.wall_ms_p95].map(|ms| format!("{ms:.3}")).to_vec()
        }
        None => vec![String::new(); 3],
    };
    let row = |name: String, figures: Option<&Figures>| std::iter::once(name).chain(timed(figures)).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = speed
        .iter()
        .flat_map(|speed| {
            let named = |name: &str| format!("{name} among {}", speed.count);
            [
                row(named("search"), speed.search_figures()),
                row(named("first 20 searches"), speed.search.figures_named("first searches")),
                row(named("save"), speed.save_figures()),
                row(named(doors::OVER_MCP), speed.door_figures(doors::OVER_MCP)),
                row(named(doors::OVER_REST), speed.door_figures(doors::OVER_REST)),
                row(named("context"), speed.context_figures()),
            ]
        })
        .collect();
    let costs: Vec<Vec<String>> = speed.iter().map(cost_row).collect();
    let header = [
        "memories",
        "cold search, CPU ms",
        "disk syncs per save",
        "bytes per memory",
        "memory MB, saving",
        "searching",
        "context",
    ];
    format!(
        "## Speed\n\n![CPU time against the number of memories](benchmarks-latency.svg)\n\n{}\n\n\
         \"Cold search\" is a whole `ingrain search` command, from process start to answer. Memory is the peak of the \
         process, including the insertion of the memories.\n\n{}",
        markdown_table(&["", "CPU ms each", "wall ms median", "wall ms p95"], &rows),
        markdown_table(&header, &costs)
    )
}

fn cost_row(speed: &SpeedReport) -> Vec<String> {
    let megabytes = |bytes: u64| format!("{:.0}", bytes as f64 / 1e6);
    vec![
        speed.count.to_string(),
        speed.cold_cpu_ms.map(|ms| format!("{ms:.1}")).unwrap_or_default(),
        speed
            .save_figures()
            .and_then(|figures| figures.disk_syncs_each)
            .map(|each| format!("{each:.2}"))
            .unwrap_or_default(),
        format!("{:.0}", speed.save.bytes_per_memory),
        megabytes(speed.save.peak_memory_bytes),
        megabytes(speed.search.peak_memory_bytes),
        megabytes(speed.context.peak_memory_bytes),
    ]
}

fn render_targets(targets: &[Target]) -> String {
    let rows: Vec<Vec<String>> = targets
        .iter()
        .map(|target| {
            let bound = match target.bound {
                Bound::AtMost(most) => format!("≤ {most}"),
                Bound::AtLeast(least) => format!("≥ {least}"),
            };
            let with_unit = |number: String| format!("{number} {}", target.unit).trim_end().to_owned();
            let word = if target.is_met() { "met" } else { "**missed**" };
            vec![
                target.description.clone(),
                with_unit(format!("{:.2}", target.measured)),
                with_unit(bound),
                word.to_owned(),
            ]
        })
        .collect();
    format!("## Targets\n\n{}", markdown_table(&["", "measured", "target", ""], &rows))
}

fn markdown_table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = vec!["---".to_owned(); header.len()];
    let lines = [line(&header), line(&rule)].into_iter().chain(rows.iter().map(|row| line(row)));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hand_written_part_is_kept() {
        assert_eq!(hand_written_part("# Benchmarks\n\nold figures"), "");
        assert_eq!(hand_written_part(&format!("old\n\n{HAND_WRITTEN_MARK}\n\n## Doors\n\nfast\n")), "## Doors\n\nfast");
    }
}
