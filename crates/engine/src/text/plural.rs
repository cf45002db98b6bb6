//! Numbers with their noun in singular or plural.

use std::fmt::Display;

/// `1 memory`, `2 memories`, `0 memories`.
pub fn format_count<N: Copy + Display + From<u8> + PartialEq>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        for (count, said) in [(0, "0 memories"), (1, "1 memory"), (2, "2 memories"), (11, "11 memories")] {
            assert_eq!(format_count::<u64>(count, "memory", "memories"), said);
        }
    }
}
