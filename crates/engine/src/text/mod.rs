//! How text is read: words, entities, tokens, HTML and Markdown, chunks, one spelling of a value.

pub mod chunks;
pub mod decode_error;
pub mod digest;
pub mod entities;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod normalize;
pub mod plural;
pub mod token_estimate;
pub mod words;
