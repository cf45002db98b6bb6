//! Builds the engine from the configuration. The only file that names a concrete backend, embedder or endpoint.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use embed::{EmbedConfig, HttpConfig};
use engine::model::caller::Caller;
use engine::model::ruleset::Rulesets;
use engine::ports::{Backend, Embedder};
use engine::safety::classifier::Classifier;
use engine::{Engine, Settings, Summariser};
use server::{ChatClassifier, ChatSummariser, ClassifierConfig, SummariserConfig};
use store::Database;

use crate::caller::build_caller;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::error::Failure;
use crate::skills::SkillFolders;

/// An engine and its caller.
pub struct Session {
    pub engine: Engine,
    pub caller: Caller,
}

impl Session {
    /// Opens the database; creates and seeds the default tenant. Other tenants must exist.
    pub fn open(config: &Config) -> Result<Session, Failure> {
        // Before the database is opened: an invalid caller must not create a database file.
        let caller = build_caller(config)?;
        let engine = open_engine(config)?;
        let tenant = match config.tenant.as_str() {
            "default" => engine.start_tenant("default")?,
            slug => {
                // Not created when missing: a misspelt slug would split the memories.
                let known = engine.database().list_tenants()?.into_iter().find(|tenant| tenant.slug == slug);
                let missing = || Failure::user_error("not_found", format!("tenant `{slug}` not found"));
                let tenant =
                    known.ok_or_else(|| missing().with_hint(format!("create it: `ingrain tenant create {slug}`")))?;
                // Adds seed stores and documents that this tenant never had, for example after an update.
                engine.seed(tenant.id)?;
                tenant
            }
        };
        let caller = engine.resolve_project(Caller { tenant: tenant.id, ..caller })?;
        Ok(Session { engine, caller })
    }

    /// Opens a database that must exist, with a tenant that must exist, and writes nothing: for commands that judge
    /// what is there.
    pub fn open_existing(config: &Config) -> Result<Session, Failure> {
        let caller = build_caller(config)?;
        if let Database::Sqlite(path) = parse_database(&config.db, &config.home)?
            && std::fs::metadata(&path).map_or(0, |file| file.len()) == 0
        {
            let message = format!("there is no database at `{}`", path.display());
            return Err(Failure::user_error("not_found", message).with_hint("check `--db` and `--home`".to_owned()));
        }
        let engine = open_engine(config)?;
        let slug = &config.tenant;
        let known = engine.database().list_tenants()?.into_iter().find(|tenant| tenant.slug == *slug);
        let tenant = known.ok_or_else(|| Failure::user_error("not_found", format!("tenant `{slug}` not found")))?;
        Ok(Session { engine, caller: Caller { tenant: tenant.id, ..caller } })
    }

    /// Waits for deferred writes (receipts, usage counters). Called after the answer is printed.
    pub fn close(&self) -> Result<(), Failure> {
        Ok(self.engine.database().flush()?)
    }
}

/// Opens an engine without a tenant.
pub fn open_engine(config: &Config) -> Result<Engine, Failure> {
    let settings = engine_settings(config)?;
    let clock = Arc::new(SystemClock::new(config.fixed_now()?));
    let embedder = open_embedder(config)?;
    // Last: a wrong setting above must not create a database file.
    let backend = open_backend(config)?;
    Ok(Engine::new(backend, embedder, clock, settings))
}

/// The engine's settings from the configuration.
pub fn engine_settings(config: &Config) -> Result<Settings, Failure> {
    let mut rulesets = Rulesets::default();
    rulesets.add_configured(config.rulesets.clone())?;
    Ok(Settings {
        limits: config.limits.clone(),
        rulesets,
        memory_off: !config.memory.enabled,
        summariser: build_summariser(config)?,
        classifier: build_classifier(config)?,
        skills: Some(Arc::new(SkillFolders::from_config(config))),
        knowledge_categories: config.knowledge.categories.clone(),
    })
}

/// Client of the summary endpoint, if one is configured.
fn build_summariser(config: &Config) -> Result<Option<Arc<dyn Summariser>>, Failure> {
    let settings = &config.summaries;
    if settings.url.is_empty() {
        return Ok(None);
    }
    if settings.model.is_empty() {
        return Err(Failure::user_error("config.summaries", "`summaries.url` needs `summaries.model`"));
    }
    Ok(Some(Arc::new(ChatSummariser::new(SummariserConfig {
        base_url: settings.url.clone(),
        model: settings.model.clone(),
        api_key: Some(settings.key.clone()).filter(|key| !key.is_empty()),
        timeout: Duration::from_millis(settings.timeout_ms),
        retries: settings.retries,
        private_allowed: settings.private_endpoint,
    }))))
}

/// Client of the endpoint that classifies planted instructions, if one is configured.
fn build_classifier(config: &Config) -> Result<Option<Arc<dyn Classifier>>, Failure> {
    let settings = &config.scanner;
    if settings.classifier_url.is_empty() {
        return Ok(None);
    }
    if settings.classifier_model.is_empty() {
        return Err(Failure::user_error("config.scanner", "`scanner.classifier_url` needs `scanner.classifier_model`"));
    }
    Ok(Some(Arc::new(ChatClassifier::new(ClassifierConfig {
        base_url: settings.classifier_url.clone(),
        model: settings.classifier_model.clone(),
        api_key: Some(settings.classifier_key.clone()).filter(|key| !key.is_empty()),
        timeout: Duration::from_millis(settings.classifier_timeout_ms),
        private_allowed: settings.classifier_private_endpoint,
    }))))
}

/// Path of the SQLite file.
pub fn database_path(config: &Config) -> Result<PathBuf, Failure> {
    match parse_database(&config.db, &config.home)? {
        Database::Sqlite(path) => Ok(path),
        Database::Postgres(_) => Err(Failure::user_error("config.db", "the database is a Postgres server, not a file")),
    }
}

/// Parses a database address: a path, `sqlite:PATH` or a Postgres URL; empty means `ingrain.db` in the home.
pub fn parse_database(text: &str, home: &Path) -> Result<Database, Failure> {
    if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
        return Ok(Database::Postgres(text.to_owned()));
    }
    let text = text.strip_prefix("sqlite:").unwrap_or(text);
    // `sqlite://PATH` is accepted like `sqlite:PATH`.
    let text = text.strip_prefix("//").unwrap_or(text);
    // Without this check a misspelt scheme would become the name of a new file.
    match text.split_once("://") {
        _ if text.is_empty() => Ok(Database::Sqlite(home.join("ingrain.db"))),
        Some((scheme, _)) => Err(Failure::user_error("config.db", format!("unknown database scheme `{scheme}`"))
            .with_hint("give a path, `sqlite:PATH` or `postgres://…`")),
        None => Ok(Database::Sqlite(PathBuf::from(text))),
    }
}

/// Whether reads and saves make no network call: SQLite, no embedding endpoint and no classifier endpoint.
pub fn is_local_only(config: &Config) -> bool {
    matches!(parse_database(&config.db, &config.home), Ok(Database::Sqlite(_)))
        && config.embeddings.model != "endpoint"
        && config.scanner.classifier_url.is_empty()
}

fn open_backend(config: &Config) -> Result<Arc<dyn Backend>, Failure> {
    match parse_database(&config.db, &config.home)? {
        Database::Postgres(url) => Ok(store::open_postgres(&url, &config.postgres.to_options())?),
        Database::Sqlite(path) => Ok(store::open_sqlite(&store::Location::File(path), &config.sqlite.to_options())?),
    }
}

pub fn open_embedder(config: &Config) -> Result<Arc<dyn Embedder>, Failure> {
    let settings = &config.embeddings;
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let needs = |what: &str| {
        Failure::user_error(
            "config.embeddings",
            format!("embeddings model `{}` needs `embeddings.{what}`", settings.model),
        )
    };
    let chosen = match settings.model.as_str() {
        "static" => EmbedConfig::Static,
        "none" => EmbedConfig::Off,
        "minilm" => EmbedConfig::Transformer { weights: config.transformer_weights() },
        "endpoint" => EmbedConfig::Http(HttpConfig {
            base_url: given(&settings.url).ok_or_else(|| needs("url"))?,
            model: given(&settings.name).ok_or_else(|| needs("name"))?,
            api_key: given(&settings.key),
            dimensions: Some(settings.dimensions).filter(|dimensions| *dimensions > 0),
            timeout: Duration::from_millis(settings.timeout_ms),
            proxy: given(&settings.proxy),
        }),
        other => {
            return Err(Failure::user_error("config.embeddings", format!("unknown embeddings model `{other}`"))
                .with_hint("one of: static, none, minilm, endpoint"));
        }
    };
    embed::open_embedder(&chosen).map_err(|error| Failure::system_error("embed.unusable", error.to_string()))
}
