//! The default model: the file is the one we made, and it behaves.

use embed::{EmbedConfig, open_embedder};
use engine::ports::EmbedError;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

const TABLE: &[u8] = include_bytes!("../../model/static.bin");
const SUMS: &str = include_str!("../../model/SHA256SUMS");

/// Issue 8: the whole model in at most 12 MB.
const MODEL_BYTES_MAX: usize = 12_000_000;

fn embed(text: &str) -> Vec<f32> {
    open_embedder(&EmbedConfig::Static).unwrap().embed(&[text]).unwrap().remove(0)
}

fn cosine(a: &str, b: &str) -> f32 {
    embed(a).iter().zip(embed(b)).map(|(x, y)| x * y).sum()
}

#[test]
fn the_table_is_the_one_we_made() {
    let found: String = Sha256::digest(TABLE).iter().map(|b| format!("{b:02x}")).collect();
    let expected = SUMS.lines().find_map(|line| line.strip_suffix("  static.bin")).unwrap();
    assert_eq!(found, expected);
    assert!(TABLE.len() <= MODEL_BYTES_MAX);
}

#[test]
fn meaning_beats_chance() {
    let check = |query: &str, near: &str, far: &str| {
        let (near_cosine, far_cosine) = (cosine(query, near), cosine(query, far));
        assert!(near_cosine > far_cosine, "{query}: {near} {near_cosine} <= {far} {far_cosine}");
    };
    check("the doctor saw the patient", "a physician examined her", "the train was late again");
    check("why did nginx crash", "the web server went down", "we had pasta for dinner");
    check("she bought a puppy", "her new dog is small", "the invoice is overdue");
    check("restore the database from backup", "recover postgres after data loss", "colours of the new logo");
    check("how old is her child", "my daughter turned seven", "the disk is full");
}

#[test]
fn a_text_without_words_has_no_vector() {
    for text in ["", "   ", "\0\u{1}", "\u{fffd}"] {
        assert!(embed(text).is_empty(), "{text:?}");
    }
}

#[test]
fn case_and_accents_do_not_matter() {
    assert_eq!(embed("Café RÉSUMÉ"), embed("cafe resume"));
}

#[test]
fn vectors_are_turned_off_with_an_answer() {
    let off = open_embedder(&EmbedConfig::Off).unwrap();
    assert!(matches!(off.embed(&["text"]), Err(EmbedError::Off)));
    assert_eq!((off.model(), off.dimensions()), ("none", 0));
}

#[test]
fn the_default_is_instant_and_calibrated() {
    let fixed = open_embedder(&EmbedConfig::Static).unwrap();
    let calibration = fixed.calibration();
    assert!(fixed.is_instant());
    assert_eq!(fixed.dimensions(), 256);
    assert!(0.0 <= calibration.unrelated && calibration.unrelated < calibration.same && calibration.same <= 1.0);
}

proptest! {
    #[test]
    fn any_text_gives_a_unit_vector_or_none(text in ".{0,300}") {
        let vector = embed(&text);
        let length: f32 = vector.iter().map(|x| x * x).sum();
        prop_assert!(vector.is_empty() || (length - 1.0).abs() < 1e-4);
    }
}
