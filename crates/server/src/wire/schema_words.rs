//! Types that stand in schemas for types of the engine, which knows no schemas.

use std::borrow::Cow;

use engine::model::key::Settable;
use engine::model::review::{Action, ReviewState, Risk};
use engine::model::vocabulary::{
    Access, EvidenceKind, Kind, Layer, Operation, Purpose, Ranker, Role, ScopeKind, State, Trust, TtlClass, TurnRole,
};
use engine::{DocumentStatus, RunOutcome};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Stands in schemas for a closed list of words of the engine, which knows no schemas.
macro_rules! word {
    ($($marker:ident = $words:ty, $name:literal);+ $(;)?) => {$(
        pub enum $marker {}

        impl JsonSchema for $marker {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let words: Vec<&str> = <$words>::ALL.iter().map(|word| word.as_str()).collect();
                json_schema!({ "type": "string", "enum": words })
            }
        }
    )+};
}

word! {
    ActionWord = Action, "Action";
    ReviewStateWord = ReviewState, "ReviewState";
    RiskWord = Risk, "Risk";
    RunOutcomeWord = RunOutcome, "RunOutcome";
    AccessWord = Access, "Access";
    DocumentStatusWord = DocumentStatus, "DocumentStatus";
    EvidenceKindWord = EvidenceKind, "EvidenceKind";
    KindWord = Kind, "Kind";
    LayerWord = Layer, "Layer";
    OperationWord = Operation, "Operation";
    PurposeWord = Purpose, "Purpose";
    RankerWord = Ranker, "Ranker";
    RoleWord = Role, "Role";
    ScopeWord = ScopeKind, "ScopeKind";
    SettableWord = Settable, "Settable";
    StateWord = State, "State";
    TrustWord = Trust, "Trust";
    TtlWord = TtlClass, "TtlClass";
    TurnRoleWord = TurnRole, "TurnRole";
}

/// Stands in schemas for a moment.
pub enum Moment {}

impl JsonSchema for Moment {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Stands in schemas for a moment that may be named by its day.
pub enum MomentOrDate {}

impl JsonSchema for MomentOrDate {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Past".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "anyOf": [{ "format": "date-time" }, { "format": "date" }] })
    }
}

/// Stands in schemas for an id.
pub enum Id {}

impl JsonSchema for Id {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "uuid" })
    }
}

/// Stands in schemas for a record of the engine, written as it is.
pub type EngineRecord = Map<String, Value>;
