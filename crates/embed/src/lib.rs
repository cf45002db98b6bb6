//! Texts to vectors. [`open`] turns a setting into an [`Embedder`]; nothing else is public.

mod fixed;
mod none;
mod vocabulary;
mod wordpiece;

use engine::ports::{EmbedError, Embedder};
use std::sync::Arc;

/// Which embedder to use, as the settings say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedConfig {
    /// Words only.
    Off,
    /// The vectors inside the binary.
    Fixed,
}

pub fn open(config: &EmbedConfig) -> Result<Arc<dyn Embedder>, EmbedError> {
    Ok(match config {
        EmbedConfig::Off => Arc::new(none::NoVectors),
        EmbedConfig::Fixed => Arc::new(fixed::Fixed::open()?),
    })
}

/// Scales to length one; empty where there is nothing to scale.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return Vec::new();
    }
    for x in &mut vector {
        *x /= length;
    }
    vector
}
