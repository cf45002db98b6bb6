//! The script a text is written in.

/// First code point after the Latin blocks.
const LATIN_END: char = '\u{250}';

/// Whether at least half of the letters are Latin. The built-in models were trained on English text.
pub(crate) fn is_latin(text: &str) -> bool {
    let (mut latin, mut letters) = (0_usize, 0_usize);
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        letters += 1;
        latin += usize::from(letter < LATIN_END);
    }
    // True for a text without letters: numbers and symbols are the same in every script.
    latin * 2 >= letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_told_apart() {
        for latin in ["", "42", "why did nginx crash", "Größe überprüft", "nginx 東京", "déjà vu"] {
            assert!(is_latin(latin), "{latin}");
        }
        for other in ["東京 会議", "почему упал nginx", "การประชุม", "合計 API 金額は五千円"]
        {
            assert!(!is_latin(other), "{other}");
        }
    }
}
