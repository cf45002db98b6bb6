//! `doctor`: checks the installation and says how to fix what is wrong.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::Args;
use engine::model::caller::Caller;
use engine::model::error::StoreError;
use engine::ports::BackendHealth;
use engine::text::plural::format_count;
use engine::{LoadedSkills, SkillSource as _};
use serde::Serialize;

use crate::assemble;
use crate::clock::SystemClock;
use crate::commands::connect::check::{ConnectionHealth, check_connections};
use crate::config::{Config, Environment, LoadedConfig};
use crate::error::Failure;
use crate::output::Output;
use crate::risks::find_risks;
use crate::skills::SkillFolders;

/// Free disk space below which saves may soon fail.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// Damaged rows that are named.
const ROWS_NAMED_MAX: usize = 50;

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    Good,
    Warning,
    Failed,
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    verdict: CheckStatus,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize)]
struct DoctorReport {
    status: &'static str,
    checks: Vec<Check>,
}

/// Check the installation
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Also check every page and index of the file, and all data of all tenants against the event log
    #[arg(long)]
    deep: bool,
}

impl DoctorArgs {
    pub fn run(&self, loaded: &LoadedConfig, environment: &Environment, output: &Output) -> Result<(), Failure> {
        run(loaded, environment, output, self.deep)
    }
}

fn run(loaded: &LoadedConfig, environment: &Environment, output: &Output, deep: bool) -> Result<(), Failure> {
    let config = &loaded.config;
    let mut checks = vec![
        check_binary(),
        check_settings(loaded),
        check_clock(config),
        check_embedder(config),
        check_rulesets(config),
        check_skills(config),
        check_summaries(config),
        check_classifier(config),
    ];
    // Last: the checks above explain why a database may not open.
    let (database_checks, health) = check_database(config, deep);
    checks.extend(database_checks);
    // Not for Postgres, whose files belong to the server.
    if let Ok(path) = assemble::database_path(config) {
        checks.extend([check_permissions(&config.home, &path), check_disk(&path)]);
    }
    let listens_at = config.server.host.parse().ok();
    let risks = find_risks(config, health.as_ref(), listens_at, std::env::args_os());
    checks.extend(risks.iter().map(|risk| warning_check(risk.code, risk.message.as_str(), risk.hint)));
    // After the database is closed: the servers of the connections open it themselves.
    checks.extend(check_clients(config, environment));
    let failed = checks.iter().any(|check| check.verdict == CheckStatus::Failed);
    let report = DoctorReport { status: if failed { "failed" } else { "good" }, checks };
    output.print_answer(&report, || render_checks(output, &report.checks))?;
    // Warnings keep exit 0: the installation works.
    if failed { Err(Failure::AlreadyReported(1)) } else { Ok(()) }
}

fn good_check(name: &'static str, detail: impl Into<String>) -> Check {
    Check { name, verdict: CheckStatus::Good, detail: detail.into(), hint: None }
}

fn warning_check(name: &'static str, detail: impl Into<String>, hint: &str) -> Check {
    Check { name, verdict: CheckStatus::Warning, detail: detail.into(), hint: Some(hint.to_owned()) }
}

fn failed_check(name: &'static str, failure: &Failure) -> Check {
    let detail = format!("{} [{}]", failure.message(), failure.code());
    Check { name, verdict: CheckStatus::Failed, detail, hint: failure.next_step() }
}

fn check_from_result(name: &'static str, outcome: Result<String, Failure>) -> Check {
    outcome.map_or_else(|failure| failed_check(name, &failure), |detail| good_check(name, detail))
}

fn check_binary() -> Check {
    let place = std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default();
    good_check("binary", format!("ingrain {} {place}", env!("CARGO_PKG_VERSION")))
}

fn check_settings(loaded: &LoadedConfig) -> Check {
    let set = loaded.settings().iter().filter(|setting| setting.from != "default").count();
    let there = if loaded.file.exists() { "" } else { " (does not exist, which is fine)" };
    good_check("settings", format!("{}{there}; {set} not at their defaults", loaded.file.display()))
}

fn check_clock(config: &Config) -> Check {
    use engine::ports::Clock;
    /// Before the first release; an earlier clock is wrong.
    const EARLIEST: &str = "2026-01-01T00:00:00Z";
    match config.fixed_now() {
        Err(failure) => failed_check("clock", &failure),
        Ok(Some(at)) => warning_check("clock", format!("fixed at {at}"), "unset INGRAIN_NOW to use the system's clock"),
        Ok(None) => {
            let now = SystemClock::new(None).now();
            match EARLIEST.parse().is_ok_and(|earliest| now < earliest) {
                true => warning_check(
                    "clock",
                    now.to_string(),
                    "correct the system's clock: recency and expiry depend on it",
                ),
                false => good_check("clock", now.to_string()),
            }
        }
    }
}

fn check_embedder(config: &Config) -> Check {
    if config.embeddings.model == "none" {
        let hint = "set `embeddings.model = \"static\"`, which is built in, to find what says the same in other words";
        return warning_check("embedder", "none: search works by words only", hint);
    }
    let opened = assemble::open_embedder(config);
    let detail = opened.and_then(|embedder| {
        // One real call: opening an endpoint does not contact it.
        let made = embedder.embed(&["a test sentence"]);
        let vectors = made.map_err(|error| Failure::system_error("embed.unavailable", error.to_string()))?;
        let dimensions = vectors.first().map_or(0, Vec::len);
        Ok(format!("{}, {dimensions} dimensions", embedder.model()))
    });
    match detail {
        Ok(detail) => good_check("embedder", detail),
        Err(failure) if failure.code() == "embed.unavailable" => warning_check(
            "embedder",
            failure.message(),
            "until it answers, search works by words only; upkeep adds the vectors later",
        ),
        Err(failure) => failed_check("embedder", &failure),
    }
}

fn check_rulesets(config: &Config) -> Check {
    let names =
        assemble::engine_settings(config).map(|settings| settings.rulesets.names().collect::<Vec<_>>().join(", "));
    check_from_result("rulesets", names)
}

fn check_skills(config: &Config) -> Check {
    let folders = SkillFolders::from_config(config);
    let LoadedSkills { skills, left_out } = folders.load_skills();
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let named: Vec<String> =
        left_out.iter().map(|out| format!("left out `{}`: {} [{}]", out.file, out.why, out.code)).collect();
    let detail = std::iter::once(format!("{names} in {folders}")).chain(named).collect::<Vec<_>>().join("; ");
    match left_out.first() {
        None => good_check("skills", detail),
        Some(_) => {
            let hint = "correct or remove the file; the other skills are included in every window".to_owned();
            Check { name: "skills", verdict: CheckStatus::Failed, detail, hint: Some(hint) }
        }
    }
}

fn check_summaries(config: &Config) -> Check {
    let detail = assemble::engine_settings(config).map(|settings| match settings.summariser {
        Some(_) => format!("by model {} at an endpoint, extracted locally if it fails", config.summaries.model),
        None => "extracted locally, no endpoint".to_owned(),
    });
    check_from_result("summaries", detail)
}

fn check_classifier(config: &Config) -> Check {
    let model = &config.scanner.classifier_model;
    // Sends one harmless sentence, to see whether the endpoint answers.
    let answer = assemble::engine_settings(config)
        .map(|settings| settings.classifier.map(|classifier| classifier.is_order("the retry budget is three")));
    match answer {
        Ok(None) => good_check("classifier", "none configured, the scanner's rules decide alone"),
        Ok(Some(Ok(_))) => good_check("classifier", format!("model {model} answers, in addition to the rules")),
        Ok(Some(Err(why))) => warning_check(
            "classifier",
            format!("model {model} does not answer: {why}"),
            "until it answers, the rules decide alone; check `scanner.classifier_url`",
        ),
        Err(failure) => failed_check("classifier", &failure),
    }
}

/// Contacts the server of every client that is connected.
fn check_clients(config: &Config, environment: &Environment) -> Vec<Check> {
    let connections = match check_connections(&config.home, environment) {
        Ok(connections) => connections,
        Err(failure) => return vec![failed_check("connection", &failure)],
    };
    if connections.is_empty() {
        return vec![warning_check(
            "connection",
            "no client is connected to this memory",
            "`ingrain connect` connects the coding agents of this machine",
        )];
    }
    let to_check = |health| match health {
        ConnectionHealth::Good(detail) => good_check("connection", detail),
        ConnectionHealth::Unknown(detail, hint) => warning_check("connection", detail, &hint),
        ConnectionHealth::Broken(detail, hint) => {
            Check { name: "connection", verdict: CheckStatus::Failed, detail, hint: Some(hint) }
        }
    };
    connections.into_iter().map(to_check).collect()
}

/// Opens the database and checks its pages, migrations, vectors and stores.
fn check_database(config: &Config, deep: bool) -> (Vec<Check>, Option<BackendHealth>) {
    if let Some(check) = assemble::database_path(config).ok().and_then(|path| check_empty_file(&path)) {
        return (vec![check], None);
    }
    let session = match assemble::Session::open(config) {
        Ok(session) => session,
        Err(failure) => return (vec![failed_check("database", &failure)], None),
    };
    let health = match session.engine.database().health() {
        Ok(health) => health,
        Err(error) => return (vec![failed_check("database", &error.into())], None),
    };
    let opened = format!("{} {} at {}", health.backend, health.version, health.location);
    let size = format!("{} in {} bytes", format_count(health.memories, "memory", "memories"), health.bytes);
    let file = assemble::database_path(config).is_ok();
    let mut checks = vec![good_check("database", opened)];
    // Only for files: Postgres checks its own pages.
    checks.extend(file.then(|| check_pages(session.engine.database().check_integrity(deep))));
    checks.extend([
        good_check("migrations", format!("at number {}", health.migration)),
        good_check("memories", size),
        good_check("vectors", health.vectors.as_str()),
        check_stores(&session),
    ]);
    if deep {
        checks.extend(check_data(&session));
    }
    (checks, Some(health))
}

/// Replays the log of every tenant against its data.
fn check_data(session: &assemble::Session) -> Vec<Check> {
    let tenants = match session.engine.database().list_tenants() {
        Ok(tenants) => tenants,
        Err(error) => return vec![failed_check("data", &error.into())],
    };
    tenants
        .iter()
        .map(|tenant| match session.engine.verify(&Caller::admin(tenant.id)) {
            Err(error) => failed_check("data", &error.into()),
            Ok(verified) if verified.is_intact() => {
                let entries = format_count(verified.entries, "log entry", "log entries");
                let versions = format_count(verified.checked.versions, "version", "versions");
                let records = format_count(verified.checked.records, "record", "records");
                let detail = format!("tenant `{}`: {entries}, {versions}, {records}, as written", tenant.slug);
                match verified.uncovered {
                    0 => good_check("data", detail),
                    rows => warning_check(
                        "data",
                        format!("{detail}; {} from before the log covered the data", format_count(rows, "row", "rows")),
                        "run `ingrain verify --adopt` to take them into the log",
                    ),
                }
            }
            Ok(verified) => {
                let broken =
                    verified.broken.iter().map(|broken| format!("log entry {}: {}", broken.seq, broken.reason));
                let named = verified.findings.iter().map(ToString::to_string);
                let unsettled = (verified.unsettled > 0).then(|| {
                    let changed = format_count(verified.unsettled, "row", "rows");
                    format!("{changed} changed all the while and could not be compared")
                });
                let detail = unsettled
                    .into_iter()
                    .chain(broken)
                    .chain(named)
                    .take(ROWS_NAMED_MAX)
                    .collect::<Vec<_>>()
                    .join("\n");
                let hint = "`ingrain verify` lists everything; run `ingrain repair`, or restore a backup";
                Check { name: "data", verdict: CheckStatus::Failed, detail, hint: Some(hint.to_owned()) }
            }
        })
        .collect()
}

/// Checks that the ruleset of every store is configured: without it saves to the store fail.
fn check_stores(session: &assemble::Session) -> Check {
    let stores = match session.engine.stores(&session.caller) {
        Ok(stores) => stores,
        Err(error) => return failed_check("stores", &error.into()),
    };
    let rulesets = &session.engine.settings.rulesets;
    let orphans: Vec<_> = stores.iter().filter(|store| rulesets.get(&store.ruleset).is_none()).collect();
    let Some(first) = orphans.first() else {
        return good_check("stores", format!("{} with their rulesets", stores.len()));
    };
    let named: Vec<String> =
        orphans.iter().map(|store| format!("store `{}` needs ruleset `{}`", store.slug, store.ruleset)).collect();
    let message = format!("{}, not configured", named.join("; "));
    let hint = format!("add `[rulesets.{}]` to config.toml again: until then saves to the store fail", first.ruleset);
    failed_check("stores", &Failure::user_error("config.ruleset_missing", message).with_hint(hint))
}

/// Reports an empty file without opening it: opening would create a new database in it, and the user may be looking for
/// a lost one.
fn check_empty_file(path: &Path) -> Option<Check> {
    let empty = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0);
    empty.then(|| {
        let message = format!("the file `{}` is empty", path.display());
        let hint = "restore a backup if it held memories; otherwise the next command creates a new database in it";
        failed_check("database", &Failure::user_error("store.empty", message).with_hint(hint))
    })
}

fn check_pages(damage: Result<Vec<String>, StoreError>) -> Check {
    match damage {
        Ok(found) if found.is_empty() => {
            good_check("pages", "no damage found; `ingrain doctor --deep` also checks the data against the log")
        }
        Ok(found) => failed_check("pages", &StoreError::Corrupt(found.join("; ")).into()),
        Err(error) => failed_check("pages", &error.into()),
    }
}

fn check_permissions(home: &Path, database: &Path) -> Check {
    let open_to_others = |path: &Path| {
        // A file that does not exist yet is open to nobody.
        let mode = std::fs::metadata(path).ok()?.permissions().mode();
        // Any right of the group or of others.
        (mode & 0o077 != 0).then(|| format!("{} has mode {:o}", path.display(), mode & 0o777))
    };
    let found: Vec<String> = [home, database].into_iter().filter_map(open_to_others).collect();
    match found.is_empty() {
        true => good_check("permissions", "only the owner can read the data"),
        false => warning_check(
            "permissions",
            found.join("; "),
            "others can read the data: chmod 700 the folder, 600 the file",
        ),
    }
}

fn check_disk(database: &Path) -> Check {
    // The parent of a bare file name is the empty path, which names no folder.
    let folder = database.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match rustix::fs::statvfs(folder) {
        Ok(room) => {
            // Blocks available to users, not those reserved for root.
            // POSIX counts them in units of `f_frsize`, not of `f_bsize`.
            let free = room.f_bavail.saturating_mul(room.f_frsize);
            match free < FREE_BYTES_MIN {
                true => warning_check("disk", format!("{free} bytes free"), "free some disk space before saves fail"),
                false => good_check("disk", format!("{} MB free", free / 1_000_000)),
            }
        }
        Err(error) => warning_check("disk", format!("unknown: {error}"), "check that the folder exists"),
    }
}

fn render_checks(output: &Output, checks: &[Check]) -> String {
    let row = |check: &Check| {
        let word = match check.verdict {
            CheckStatus::Good => "good",
            CheckStatus::Warning => "warning",
            CheckStatus::Failed => "failed",
        };
        // Not coloured: the table would escape the colour codes.
        let hint = check.hint.as_deref().map(|hint| format!("\nnext: {hint}")).unwrap_or_default();
        vec![check.name.to_owned(), word.to_owned(), format!("{}{hint}", check.detail)]
    };
    output.render_table(&["check", "", "detail"], checks.iter().map(row))
}
