//! How a place in a listing is spelled for those who hand it back: one opaque word, safe in an address and in a shell,
//! the same at every door.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

use crate::model::error::Error;
use crate::ports::row::RowKind;
use crate::ports::{Cursor, Order};
use crate::review::{Queue, QueueMark};

impl Cursor {
    /// The word for this place. It names its order, so that it fits no other listing.
    pub fn word(&self, order: Order) -> String {
        let letter = letter(order);
        URL_SAFE_NO_PAD.encode(match self {
            Cursor::Path(path, id) => format!("{letter}.{id}.{path}"),
            Cursor::Time(at, id) => format!("{letter}.{id}.{}", at.as_microsecond()),
        })
    }

    /// The place a word of [`Cursor::word`] stands for.
    pub fn read(order: Order, word: &str) -> Result<Cursor, Error> {
        let place = || {
            let text = plain(word)?;
            let (id, key) = text.strip_prefix(letter(order))?.strip_prefix('.')?.split_once('.')?;
            let id = id.parse().ok()?;
            match order {
                Order::Path => Some(Cursor::Path(key.to_owned(), id)),
                Order::Newest | Order::Oldest => Some(Cursor::Time(moment(key)?, id)),
                Order::LastTurn | Order::Fading | Order::Expiring => None,
            }
        };
        place().ok_or_else(wrong)
    }
}

/// The word for a row's place among those of its kind.
pub(crate) fn row_word(kind: RowKind, at: Timestamp, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{kind}.{}.{id}", at.as_microsecond()))
}

/// The place a word of [`row_word`] stands for.
pub(crate) fn read_row(kind: RowKind, word: &str) -> Result<(Timestamp, String), Error> {
    let place = || {
        let text = plain(word)?;
        let (at, id) = text.strip_prefix(kind.as_str())?.strip_prefix('.')?.split_once('.')?;
        Some((moment(at)?, id.to_owned()))
    };
    place().ok_or_else(wrong)
}

impl Queue {
    /// The word for where the next stretch begins.
    pub fn next_word(&self) -> Option<String> {
        let (at, id) = self.next.as_ref()?;
        Some(URL_SAFE_NO_PAD.encode(format!("q.{}.{id}", at.as_microsecond())))
    }

    /// The place a word of [`Queue::next_word`] stands for.
    pub fn read_word(word: &str) -> Result<QueueMark, Error> {
        let place = || {
            let text = plain(word)?;
            let (at, id) = text.strip_prefix("q.")?.split_once('.')?;
            Some((moment(at)?, id.to_owned()))
        };
        place().ok_or_else(wrong)
    }
}

const fn letter(order: Order) -> &'static str {
    match order {
        Order::Path => "p",
        Order::Newest => "n",
        Order::Oldest => "o",
        Order::LastTurn => "t",
        Order::Fading => "f",
        Order::Expiring => "e",
    }
}

fn plain(word: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(word).ok()?).ok()
}

fn moment(micros: &str) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros.parse().ok()?).ok()
}

fn wrong() -> Error {
    Error::invalid("shape.cursor", "this cursor is not of this listing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_fit_no_other_listing() {
        let id = "0195f0a0-0000-7000-8000-000000000001".parse().expect("an id");
        let at = Timestamp::from_microsecond(1_700_000_000_000_001).expect("a time");
        let places = [
            (Order::Path, Cursor::Path("a.b/c d".to_owned(), id)),
            (Order::Newest, Cursor::Time(at, id)),
            (Order::Oldest, Cursor::Time(at, id)),
        ];
        for (order, cursor) in &places {
            let word = cursor.word(*order);
            assert_eq!(Cursor::read(*order, &word).expect("its own"), *cursor);
            for (other, _) in places.iter().filter(|(other, _)| other != order) {
                assert!(Cursor::read(*other, &word).is_err(), "{order:?} as {other:?}");
            }
            assert!(Queue::read_word(&word).is_err());
        }
        let word = row_word(RowKind::Receipts, at, "r.1");
        assert_eq!(read_row(RowKind::Receipts, &word).expect("its own"), (at, "r.1".to_owned()));
        assert!(read_row(RowKind::Runs, &word).is_err() && Queue::read_word(&word).is_err());
        let queue = Queue { reviews: Vec::new(), next: Some((at, "r.1".to_owned())) };
        assert_eq!(Queue::read_word(&queue.next_word().expect("a word")).expect("its own"), (at, "r.1".to_owned()));
    }

    #[test]
    fn odd_words_are_none() {
        let soon = URL_SAFE_NO_PAD.encode("n.0195f0a0-0000-7000-8000-000000000001.soon");
        for odd in ["", "p", "§", &URL_SAFE_NO_PAD.encode("p.x.y"), &soon] {
            for order in [Order::Path, Order::Newest, Order::Oldest, Order::Fading] {
                assert_eq!(Cursor::read(order, odd).expect_err(odd).code(), "shape.cursor");
            }
        }
    }
}
