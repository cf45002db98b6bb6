//! How text is read: words, entities, tokens, HTML and Markdown, chunks, one spelling of a value.

pub mod chunks;
pub mod count;
pub mod decode_error;
pub mod entities;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod normalize;
pub mod tokens;
pub mod words;
