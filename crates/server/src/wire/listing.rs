//! Which memories to list, and how.

use engine::model::vocabulary::{Kind, Layer, ScopeKind, State, Trust};
use engine::ports::{Filter, ListCursor, SortOrder};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    KindWord, LayerWord, Moment, Past, ScopeWord, StateWord, TrustWord, deserialize_as_of, deserialize_bounded,
    deserialize_optional_moment,
};
use crate::problem::Problem;

/// Which memories to list, and how.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListParams {
    pub store: Vec<String>,
    #[schemars(with = "Vec<ScopeWord>")]
    pub scope: Vec<ScopeKind>,
    #[schemars(with = "Vec<LayerWord>")]
    pub layer: Vec<Layer>,
    #[schemars(with = "Vec<KindWord>")]
    pub kind: Vec<Kind>,
    /// All of them, exactly.
    pub tag: Vec<String>,
    /// Active ones only, where none is named.
    #[schemars(with = "Vec<StateWord>")]
    pub state: Vec<State>,
    #[schemars(with = "Option<TrustWord>")]
    pub trust_min: Option<Trust>,
    #[serde(deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub updated_after: Option<Timestamp>,
    #[serde(deserialize_with = "deserialize_optional_moment")]
    #[schemars(with = "Option<Moment>")]
    pub updated_before: Option<Timestamp>,
    pub path_prefix: Option<String>,
    pub path: Option<String>,
    pub session: Option<String>,
    pub always_inject: Option<bool>,
    /// The memories as they stood at this time; a date means the end of that day, in UTC.
    #[serde(deserialize_with = "deserialize_as_of")]
    #[schemars(with = "Option<Past>")]
    pub as_of: Option<Timestamp>,
    pub sort: Sort,
    pub cursor: Option<String>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// Whether contents are wanted too.
    pub content: bool,
}

impl ListParams {
    /// The page to begin after, where one was named.
    pub fn parse_cursor(&self) -> Result<Option<ListCursor>, Problem> {
        Ok(self.cursor.as_deref().map(|word| ListCursor::from_token(self.sort.into(), word)).transpose()?)
    }

    pub fn to_filter(&self) -> Filter {
        Filter {
            stores: self.store.clone(),
            scopes: self.scope.clone(),
            layers: self.layer.clone(),
            kinds: self.kind.clone(),
            tags: self.tag.clone(),
            states: self.state.clone(),
            trust_min: self.trust_min,
            updated_after: self.updated_after,
            updated_before: self.updated_before,
            path_prefix: self.path_prefix.clone(),
            path: self.path.clone(),
            session: self.session.clone(),
            always_inject: self.always_inject,
            as_of: self.as_of,
            ..Filter::default()
        }
    }
}

/// Which memory of all it has been.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadParams {
    /// The memory as it stood at this time; a date means the end of that day, in UTC.
    #[serde(deserialize_with = "deserialize_as_of")]
    #[schemars(with = "Option<Past>")]
    pub as_of: Option<Timestamp>,
}

/// Which stretch of a history.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HistoryParams {
    /// Only versions with a number below this.
    #[serde(deserialize_with = "deserialize_bounded::<_, 1, 4_294_967_295>")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub below: Option<usize>,
    #[serde(default, deserialize_with = "deserialize_bounded::<_, 1, 1000>")]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
}

/// How a listing is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    Path,
    /// Updated last comes first.
    #[default]
    Newest,
    /// Created first comes first.
    Oldest,
}

impl From<Sort> for SortOrder {
    fn from(sort: Sort) -> SortOrder {
        match sort {
            Sort::Path => SortOrder::Path,
            Sort::Newest => SortOrder::Newest,
            Sort::Oldest => SortOrder::Oldest,
        }
    }
}
