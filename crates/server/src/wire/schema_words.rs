//! Types that describe engine types in the API schemas. The engine itself has no dependency on schemas.

use std::borrow::Cow;

use engine::model::key::Settable;
use engine::model::review::{Action, ReviewState, Risk};
use engine::model::vocabulary::{
    Access, EvidenceKind, Kind, Layer, Operation, Purpose, Ranker, Role, ScopeKind, State, Trust, TtlClass, TurnRole,
};
use engine::{DocumentStatus, RunOutcome};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

/// Declares a schema for each vocabulary of the engine: a string with a fixed set of values.
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

/// Schema of a timestamp.
pub enum Moment {}

// Inlined: a reference to one line would make the document harder to read.
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

/// Schema of a timestamp or a date.
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

/// Schema of an id.
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

/// Schema of an engine record, which is serialised as it is: any object.
pub type EngineRecord = Map<String, Value>;
