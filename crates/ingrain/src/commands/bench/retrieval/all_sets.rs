//! `bench retrieval --all DIR`: every set of a folder in one table, with confidence intervals by question, and compared
//! question by question with the JSON of an earlier run: of another binary or another configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{RetrievalReport, RetrievalSet, read_set_file};
use crate::error::Failure;

/// Half-width of a 95 % interval in standard errors.
const INTERVAL_ERRORS: f64 = 1.96;

/// A figure per question, for each measure: shares from 0 to 1.
pub type ByQuestion = BTreeMap<String, Vec<f64>>;

#[derive(Serialize, Deserialize)]
pub struct AllReport {
    pub sets: Vec<SetReport>,
}

#[derive(Serialize, Deserialize)]
pub struct SetReport {
    pub name: String,
    pub report: RetrievalReport,
    pub by_question: ByQuestion,
}

/// The sets of a folder, by name.
pub fn read_folder(folder: &Path) -> Result<Vec<(String, RetrievalSet)>, Failure> {
    let wrong = |error: std::io::Error| {
        Failure::user_error("shape.bench_file", format!("cannot read `{}`: {error}", folder.display()))
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        files.push(entry.map_err(wrong)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    if files.is_empty() {
        let message = format!("`{}` has no retrieval set (*.json)", folder.display());
        return Err(Failure::user_error("shape.bench_file", message));
    }
    let name = |file: &PathBuf| file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    files.iter().map(|file| Ok((name(file), read_set_file(file)?))).collect()
}

pub fn read_report(file: &Path) -> Result<AllReport, Failure> {
    let wrong = |message: String| Failure::user_error("shape.bench_file", message);
    let text =
        std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot read `{}`: {error}", file.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| wrong(format!("`{}` is not the JSON of `bench retrieval --all`: {error}", file.display())))
}

/// Mean and half-width of its 95 % interval, in percent.
pub fn mean_with_interval(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean * 100.0, INTERVAL_ERRORS * (variance / count).sqrt() * 100.0)
}

fn show(values: &[f64]) -> String {
    let (mean, interval) = mean_with_interval(values);
    format!("{mean:.1} ± {interval:.1}")
}

/// One row per set, one column per measure; the names of the columns come first.
pub fn table(all: &AllReport) -> (Vec<String>, Vec<Vec<String>>) {
    let measures: Vec<&String> = all.sets.first().map(|set| set.by_question.keys().collect()).unwrap_or_default();
    let header = ["set", "questions"].into_iter().map(str::to_owned);
    let header = header.chain(measures.iter().map(|measure| (*measure).clone())).collect();
    let row = |set: &SetReport| {
        let cells =
            measures.iter().map(|measure| set.by_question.get(*measure).map_or_else(String::new, |all| show(all)));
        [set.name.clone(), set.report.main.queries.to_string()].into_iter().chain(cells).collect()
    };
    (header, all.sets.iter().map(row).collect())
}

/// Header of [`comparison`].
pub const COMPARISON_HEADER: [&str; 7] = ["set", "measure", "before", "after", "difference", "better", "worse"];

/// One row per set and measure that both runs have: the mean difference by question, and on how many questions each of
/// the two is better.
pub fn comparison(before: &AllReport, after: &AllReport) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for set in &after.sets {
        let Some(earlier) = before.sets.iter().find(|earlier| earlier.name == set.name) else { continue };
        for (measure, now) in &set.by_question {
            let Some(then) = earlier.by_question.get(measure).filter(|then| then.len() == now.len()) else { continue };
            let differences: Vec<f64> = now.iter().zip(then).map(|(now, then)| now - then).collect();
            let (mean, interval) = mean_with_interval(&differences);
            rows.push(vec![
                set.name.clone(),
                measure.clone(),
                format!("{:.1}", mean_with_interval(then).0),
                format!("{:.1}", mean_with_interval(now).0),
                format!("{mean:+.1} ± {interval:.1}"),
                differences.iter().filter(|difference| **difference > 0.0).count().to_string(),
                differences.iter().filter(|difference| **difference < 0.0).count().to_string(),
            ]);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_narrows_with_the_questions() {
        let (mean, wide) = mean_with_interval(&[0.0, 1.0, 0.0, 1.0]);
        let (same, narrow) = mean_with_interval(&[0.0, 1.0].repeat(50));
        assert_eq!((mean, same), (50.0, 50.0));
        assert!(wide > narrow && (narrow - 9.85).abs() < 0.01, "{wide} {narrow}");
        assert_eq!(mean_with_interval(&[]), (0.0, 0.0));
    }
}
