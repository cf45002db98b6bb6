//! Parameters of a search among layered records.

use engine::model::vocabulary::{Layer, State};
use schemars::JsonSchema;
use serde::Deserialize;

use super::deserialize::deserialize_bounded;
use super::schema_words::{LayerWord, StateWord};

/// A search among layered records.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordParams {
    pub query: String,
    #[schemars(with = "Vec<LayerWord>")]
    pub layer: Vec<Layer>,
    /// State; default: active records only.
    #[schemars(with = "Vec<StateWord>")]
    pub state: Vec<State>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 200>")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
}
