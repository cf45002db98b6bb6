//! Stores.

use engine::NewStore;
use engine::model::id::StoreId;
use engine::model::store::Store;
use engine::model::vocabulary::{Access, ScopeKind, Trust};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema_words::{AccessWord, Id, Moment, ScopeWord, TrustWord};

/// A store to create.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewStore")]
pub struct NewStoreBody {
    #[schemars(length(min = 1, max = 64), extend("pattern" = "^[a-z0-9_-]+$"))]
    pub slug: String,
    #[serde(default)]
    pub title: Option<String>,
    #[schemars(with = "ScopeWord")]
    pub scope: ScopeKind,
    /// `document`, `episodic`, `lesson`, `layered`, `note`, or one from configuration.
    pub ruleset: String,
    #[schemars(with = "TrustWord")]
    pub default_trust: Trust,
    #[schemars(with = "AccessWord")]
    pub access: Access,
}

impl From<NewStoreBody> for NewStore {
    fn from(body: NewStoreBody) -> NewStore {
        NewStore {
            slug: body.slug,
            title: body.title,
            scope: body.scope,
            ruleset: body.ruleset,
            default_trust: body.default_trust,
            access: body.access,
        }
    }
}

/// A store.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Store")]
pub struct StoreView {
    #[schemars(with = "Id")]
    pub id: StoreId,
    pub slug: String,
    pub title: String,
    #[schemars(with = "ScopeWord")]
    pub scope: ScopeKind,
    pub ruleset: String,
    #[schemars(with = "TrustWord")]
    pub default_trust: Trust,
    #[schemars(with = "AccessWord")]
    pub access: Access,
    pub owner: String,
    #[schemars(with = "Moment")]
    pub created_at: Timestamp,
    #[schemars(with = "Option<Moment>")]
    pub archived_at: Option<Timestamp>,
}

impl From<Store> for StoreView {
    fn from(store: Store) -> StoreView {
        StoreView {
            id: store.id,
            slug: store.slug,
            title: store.title,
            scope: store.scope,
            ruleset: store.ruleset,
            default_trust: store.default_trust,
            access: store.access,
            owner: store.owner,
            created_at: store.created_at,
            archived_at: store.archived_at,
        }
    }
}
