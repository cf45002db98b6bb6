//! HTML character references: names of HTML 4 and numbers. HTML 5 has two thousand names more, which pages rarely use.

/// Names and characters, alternating and separated by white space. To add one, append `name character`. White space,
/// invisible characters and the five of XML (`amp`, …) are in [`decode_entity`].
const NAMED_ENTITIES: &str = "
    iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬ reg ® macr ¯ deg °
    plusmn ± sup2 ² sup3 ³ acute ´ micro µ para ¶ middot · cedil ¸ sup1 ¹ ordm º raquo » frac14 ¼ frac12 ½
    frac34 ¾ iquest ¿ Agrave À Aacute Á Acirc Â Atilde Ã Auml Ä Aring Å AElig Æ Ccedil Ç Egrave È Eacute É
    Ecirc Ê Euml Ë Igrave Ì Iacute Í Icirc Î Iuml Ï ETH Ð Ntilde Ñ Ograve Ò Oacute Ó Ocirc Ô Otilde Õ Ouml Ö
    times × Oslash Ø Ugrave Ù Uacute Ú Ucirc Û Uuml Ü Yacute Ý THORN Þ szlig ß agrave à aacute á acirc â
    atilde ã auml ä aring å aelig æ ccedil ç egrave è eacute é ecirc ê euml ë igrave ì iacute í icirc î iuml ï
    eth ð ntilde ñ ograve ò oacute ó ocirc ô otilde õ ouml ö divide ÷ oslash ø ugrave ù uacute ú ucirc û uuml ü
    yacute ý thorn þ yuml ÿ OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ Alpha Α Beta Β
    Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ
    Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η
    theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ
    chi χ psi ψ omega ω thetasym ϑ upsih ϒ piv ϖ ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „
    dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € image ℑ
    weierp ℘ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓
    hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √
    prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂
    sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang 〈 rang 〉
    loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦
";

/// Bytes from `&` to `;`, at most; anything longer is text. Covers the longest name and `&#x10FFFF`.
const ENTITY_BYTES_MAX: usize = 10;

/// The text with its character references replaced. Unknown ones stay as they are.
pub(super) fn decode_entities(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').filter(|end| *end <= ENTITY_BYTES_MAX);
        match end.and_then(|end| Some((end, decode_entity(&rest[1..end])?))) {
            Some((end, c)) => {
                text.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                text.push('&');
                rest = &rest[1..];
            }
        }
    }
    text + rest
}

fn decode_entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" | "ensp" | "emsp" | "thinsp" => Some(' '),
        "shy" => Some('\u{ad}'),
        "zwnj" => Some('\u{200c}'),
        "zwj" => Some('\u{200d}'),
        name => match name.strip_prefix('#') {
            Some(number) => {
                let hex = number.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
                // NUL is not allowed in a stored text.
                char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?).filter(|c| *c != '\0')
            }
            // A linear search suffices: pages have few references by name.
            None => {
                let mut words = NAMED_ENTITIES.split_whitespace();
                std::iter::from_fn(|| words.next().zip(words.next()))
                    .find_map(|(known, c)| c.chars().next().filter(|_| known == name))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_read_by_name_and_by_number() {
        let check = |raw: &str, expected: &str| assert_eq!(decode_entities(raw), expected);
        check("caf&eacute; &Uuml;ber &szlig; &ntilde; &ccedil; &Oslash;", "café Über ß ñ ç Ø");
        check("&euro;5 &ndash; &ldquo;x&rdquo; &le; &rarr; &alpha; &copy; &hellip;", "€5 – “x” ≤ → α © …");
        check("&#233;&#xE9; &amp;eacute; a&nbsp;b", "éé &eacute; a b");
        check("&unknown; &é; & ; &; &#0; R&D; x", "&unknown; &é; & ; &; &#0; R&D; x");
        assert!(NAMED_ENTITIES.split_whitespace().count().is_multiple_of(2));
    }
}
