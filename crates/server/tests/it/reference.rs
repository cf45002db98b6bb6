//! The reference in `docs/reference` is made from the code. `UPDATE_REFERENCE=1 cargo test -p server reference`
//! writes it.

use std::path::Path;

#[test]
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the tests")]
fn the_reference_is_fresh() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/rest.md");
    let fresh = server::render_reference();
    if std::env::var("UPDATE_REFERENCE").is_ok() {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(&file, &fresh).expect("written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == fresh, "docs/reference/rest.md is stale: UPDATE_REFERENCE=1 cargo test -p server reference");
    // Every operation is under a heading, and every heading has some.
    let operations = server::openapi()["paths"]
        .as_object()
        .expect("paths")
        .values()
        .map(|path| path.as_object().map_or(0, |p| p.len()))
        .sum::<usize>();
    assert_eq!(fresh.matches("\n### ").count(), operations);
}
