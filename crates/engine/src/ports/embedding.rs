//! Embeddings of texts and memories. Without a vector, a memory is still found by its words.

use crate::Engine;
use crate::gate;
use crate::model::memory::Memory;
use crate::model::vector::{Embedding, Vector};

/// Vector of a text; `None` if the embedder fails or the text holds nothing to embed.
pub(crate) fn embed_text(engine: &Engine, text: &str) -> Option<Embedding> {
    let vectors = engine.embedder.embed(&[text]).ok()?;
    let vector = Vector::quantise(vectors.first()?)?;
    Some(Embedding { model: engine.embedder.model().to_owned(), vector })
}

/// Vector of a memory being saved, if the embedder is fast enough to run inside a save. Otherwise upkeep adds it later.
pub(crate) fn embed_if_instant(engine: &Engine, memory: &Memory) -> Option<Embedding> {
    engine.embedder.is_instant().then(|| embed_text(engine, &gate::embedding_text(memory))).flatten()
}
