//! Searches, their hits, and the diagnosis of a memory.

use std::collections::BTreeMap;

use engine::model::caller::Caller;
use engine::model::error::Error;
use engine::model::id::MemoryId;
use engine::model::vocabulary::{Kind, Layer, Ranker, ScopeKind, State, Trust};
use engine::ports::Filter;
use engine::recall::ranking::Hit;
use engine::{Diagnosis, Engine, HitExplanation, SearchQuery, SearchResults};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::deserialize::{deserialize_as_of, deserialize_bounded, deserialize_optional_moment};
use super::memories::MemoryView;
use super::schema_words::{Id, KindWord, LayerWord, Moment, MomentOrDate, RankerWord, ScopeWord, StateWord, TrustWord};

/// A search. A query without words ranks the newest memories you may see by trust, kind and age.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Search")]
pub struct SearchBody {
    pub query: String,
    #[serde(default)]
    pub stores: Vec<String>,
    #[serde(default)]
    #[schemars(with = "Vec<ScopeWord>")]
    pub scopes: Vec<ScopeKind>,
    /// Limits the search to memories of this system.
    #[serde(default)]
    pub system: Option<String>,
    #[serde(default)]
    #[schemars(with = "Vec<LayerWord>")]
    pub layers: Vec<Layer>,
    #[serde(default)]
    #[schemars(with = "Vec<KindWord>")]
    pub kinds: Vec<Kind>,
    /// A memory must have all of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// States to search; default: active memories only.
    #[serde(default)]
    #[schemars(with = "Vec<StateWord>")]
    pub states: Vec<State>,
    #[serde(default)]
    #[schemars(with = "Option<TrustWord>")]
    pub trust_min: Option<Trust>,
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub updated_after: Option<Timestamp>,
    #[serde(default, deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub updated_before: Option<Timestamp>,
    #[serde(default)]
    pub path_prefix: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
    /// The memories as they were at this time; a date means the end of that day, in UTC.
    #[serde(default, deserialize_with = "deserialize_as_of")]
    #[schemars(with = "Option<MomentOrDate>")]
    pub as_of: Option<Timestamp>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
    #[serde(default)]
    #[schemars(with = "Option<RankerWord>")]
    pub ranker: Option<Ranker>,
    /// Also explain why this memory was or was not returned.
    #[serde(default)]
    #[schemars(with = "Option<Id>")]
    pub explain: Option<MemoryId>,
    /// Searches by words only, without vectors.
    #[serde(default)]
    pub words_only: bool,
}

impl SearchBody {
    /// The engine's query. Needs the engine to resolve the scopes of a system's memories.
    pub fn into_query(self, engine: &Engine, caller: &Caller) -> Result<SearchQuery, Error> {
        let body = self;
        // Fails if no store keeps memories by system, instead of searching everywhere.
        let places = body.system.as_deref().map(|system| engine.places_of_system(caller, system)).transpose()?;
        let filter = Filter {
            places: places.unwrap_or_default(),
            stores: body.stores,
            scopes: body.scopes,
            layers: body.layers,
            kinds: body.kinds,
            tags: body.tags,
            states: body.states,
            trust_min: body.trust_min,
            updated_after: body.updated_after,
            updated_before: body.updated_before,
            path_prefix: body.path_prefix,
            session: body.session,
            as_of: body.as_of,
            ..Filter::default()
        };
        Ok(SearchQuery {
            text: body.query,
            filter,
            limit: body.limit,
            ranker: body.ranker,
            explain: body.explain,
            words_only: body.words_only,
            ..SearchQuery::default()
        })
    }
}

/// Search results, best first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Found")]
pub struct SearchResultView {
    pub hits: Vec<HitView>,
    #[schemars(with = "RankerWord")]
    pub ranker: Ranker,
    /// Number of scored memories.
    pub considered: usize,
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WhyNotView>")]
    pub why_not: Option<HitExplanation>,
}

/// A found memory, with its score.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub struct HitView {
    pub score: f64,
    /// The parts of the score by name.
    pub parts: BTreeMap<&'static str, f64>,
    pub memory: MemoryView,
}

/// Why a memory was or was not among the hits.
#[derive(JsonSchema)]
#[schemars(rename = "WhyNot")]
#[expect(dead_code, reason = "only its schema is used: the engine's own type is written")]
struct WhyNotView {
    #[schemars(with = "Id")]
    memory: MemoryId,
    returned: bool,
    rank: Option<usize>,
    score: Option<f64>,
    cutoff: Option<f64>,
    reason: String,
}

impl From<Hit> for HitView {
    fn from(hit: Hit) -> HitView {
        HitView { score: hit.score, parts: hit.parts, memory: MemoryView::with_content(hit.memory) }
    }
}

impl From<SearchResults> for SearchResultView {
    fn from(answer: SearchResults) -> SearchResultView {
        SearchResultView {
            hits: answer.hits.into_iter().map(HitView::from).collect(),
            ranker: answer.ranker,
            considered: answer.considered_count,
            warnings: answer.warnings,
            why_not: answer.explanation,
        }
    }
}

/// Why a memory is or is not found by a search and shown in a context.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Diagnosis")]
pub struct DiagnosisView {
    #[schemars(with = "Map<String, Value>")]
    pub diagnosis: Diagnosis,
}
