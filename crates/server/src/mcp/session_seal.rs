//! Session ids bound to the caller that opened the session.
//!
//! A session id is no credential, but the library behind `/mcp` takes it for one when it routes replies, streams and
//! the end of a session. So a client gets the id with a seal over id and holder: the credential and the person it acts
//! for. An id that comes with another credential does not exist.

use engine::text::digest::to_hex;
use ring::hmac;
use ring::rand::SystemRandom;

/// Key of the seals. Sessions end with the process, and so may their key.
pub(crate) struct SessionSeal {
    /// `None` if the system gave no randomness: then no session is ever found.
    key: Option<hmac::Key>,
}

const SEPARATOR: char = '.';

impl SessionSeal {
    pub(crate) fn new() -> SessionSeal {
        SessionSeal { key: hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok() }
    }

    /// The id that the client is given.
    pub(super) fn seal_id(&self, id: &str, holder: &str) -> Option<String> {
        Some(format!("{id}{SEPARATOR}{}", to_hex(self.tag(id, holder)?.as_ref())))
    }

    /// The library's id, if this holder was given this sealed one.
    pub(super) fn open_id<'a>(&self, sealed: &'a str, holder: &str) -> Option<&'a str> {
        let (id, seal) = sealed.rsplit_once(SEPARATOR)?;
        let expected = to_hex(self.tag(id, holder)?.as_ref());
        // Every byte is compared: the time must not show how much of a guess was right.
        let differing = expected.bytes().zip(seal.bytes()).fold(0, |bits, (a, b)| bits | (a ^ b));
        (expected.len() == seal.len() && std::hint::black_box(differing) == 0).then_some(id)
    }

    fn tag(&self, id: &str, holder: &str) -> Option<hmac::Tag> {
        // Ids hold no line break.
        let bound = format!("{id}\n{holder}");
        Some(hmac::sign(self.key.as_ref()?, bound.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_id_opens_for_the_same_holder_only() {
        let seal = SessionSeal::new();
        let sealed = seal.seal_id("session", "ann").expect("a key");
        assert_eq!(seal.open_id(&sealed, "ann"), Some("session"));
        for stranger in ["bob", "", "ann\n"] {
            assert_eq!(seal.open_id(&sealed, stranger), None);
        }
        for forged in ["session", "session.", &sealed[..sealed.len() - 1], &sealed.replace("session", "sessioo")] {
            assert_eq!(seal.open_id(forged, "ann"), None, "{forged}");
        }
        assert_eq!(SessionSeal::new().open_id(&sealed, "ann"), None);
    }
}
