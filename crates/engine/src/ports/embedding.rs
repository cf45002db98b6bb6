//! Vectors from the embedder, where it is up.
use crate::Engine;
use crate::gate;
use crate::model::memory::Memory;
use crate::model::vector::{Embedding, Vector};

/// The vector of a text, where the embedder is up. A memory without one is still found by its words.
pub(crate) fn embed_text(engine: &Engine, text: &str) -> Option<Embedding> {
    let vectors = engine.embedder.embed(&[text]).ok()?;
    let vector = Vector::quantise(vectors.first()?)?;
    Some(Embedding { model: engine.embedder.model().to_owned(), vector })
}

/// The vector of a memory being saved: only where making it does not hold up the save.
pub(crate) fn embed_if_instant(engine: &Engine, memory: &Memory) -> Option<Embedding> {
    engine.embedder.is_instant().then(|| embed_text(engine, &gate::embedding_text(memory))).flatten()
}
