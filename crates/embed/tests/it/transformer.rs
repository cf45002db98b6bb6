//! The transformer refuses files that are not its weights. Its numbers are checked by `scripts/model/check-minilm`,
//! since the weights are not in the repository.

use embed::{EmbedConfig, open_embedder};
use engine::ports::EmbedError;
use std::path::PathBuf;

#[test]
fn a_wrong_or_missing_file_is_named_and_refused() {
    let check = |weights: PathBuf, reason: &str| match open_embedder(&EmbedConfig::Transformer { weights }) {
        Err(EmbedError::Broken(message)) => assert!(message.contains(reason), "{message}"),
        other => panic!("expected a broken model, got {:?}", other.map(|e| e.model().to_owned())),
    };
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    check(root.join("no-such-file"), "no-such-file");
    check(root.join("Cargo.toml"), "install-minilm");
    check(root.join("model/static.bin"), "install-minilm");
}
