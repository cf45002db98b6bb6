//! Reading of text, below everything else in the engine.
//!
//! - `words`: text to search terms, for the index and for queries
//! - `entities`: namespaces, resources, environments and services that a text names
//! - `heading`: title and path of a text that comes without them
//! - `token_estimate`: how many model tokens a text costs
//! - `html`: HTML to Markdown
//! - `markdown`: blocks of a Markdown text
//! - `chunks`: documents cut into pieces along their headings
//! - `normalize`: one form for texts that people consider the same, and a keyed digest of it
//! - `passage`: the part of a long text that answers a query best
//! - `digest`: SHA-256 in hex
//! - `direction_marks`: characters that change the direction of displayed text
//! - `canonical_json`: JSON in one spelling, for digests
//! - `decode_error`: JSON errors by field, without the value
//! - `plural`: `1 memory`, `2 memories`

pub mod canonical_json;
pub mod chunks;
pub mod decode_error;
pub mod digest;
pub mod direction_marks;
pub mod entities;
pub mod heading;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod normalize;
pub mod passage;
pub mod plural;
pub mod token_estimate;
pub mod words;
