//! All the engine asks of the world.

/// Turns text into a vector of unit length, or says why not.
pub trait Embedder: Send + Sync {
    /// A stable name of model and version; vectors of different names are never compared.
    fn model(&self) -> &str;
    fn dimensions(&self) -> usize;
    /// One vector per text, unit length. An empty vector where a text holds nothing to embed.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
    /// Whether a call is cheap enough to make inside a save (no network, no model run).
    fn is_instant(&self) -> bool;
    /// What cosine means for this model: similarity of unrelated and of equivalent short texts, from calibration.
    fn calibration(&self) -> Calibration;
}

/// Maps a raw cosine to relevance 0..1: at or below `unrelated` is 0, at or above `same` is 1, linear between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub unrelated: f32,
    pub same: f32,
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("embedding is turned off")]
    Off,
    #[error("the embedding endpoint did not answer: {0}")]
    Unavailable(String),
    #[error("the embedding model is not usable: {0}")]
    Broken(String),
}
