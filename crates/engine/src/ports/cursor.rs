//! How a place in a listing is spelled for those who hand it back: one opaque word, safe in an address and in a shell,
//! the same at every door.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

use crate::model::error::Error;
use crate::ports::{ListCursor, SortOrder};

impl ListCursor {
    /// The word for this place. It names its order, so that it fits no other listing.
    pub fn to_token(&self, order: SortOrder) -> String {
        let letter = order_letter(order);
        URL_SAFE_NO_PAD.encode(match self {
            ListCursor::Path(path, id) => format!("{letter}.{id}.{path}"),
            ListCursor::Time(at, id) => format!("{letter}.{id}.{}", at.as_microsecond()),
        })
    }

    /// The place a word of [`Cursor::word`] stands for.
    pub fn from_token(order: SortOrder, word: &str) -> Result<ListCursor, Error> {
        let place = || {
            let text = decode_cursor_text(word)?;
            let (id, key) = text.strip_prefix(order_letter(order))?.strip_prefix('.')?.split_once('.')?;
            let id = id.parse().ok()?;
            match order {
                SortOrder::Path => Some(ListCursor::Path(key.to_owned(), id)),
                SortOrder::Newest | SortOrder::Oldest => Some(ListCursor::Time(parse_micros(key)?, id)),
                SortOrder::LastTurn | SortOrder::Fading | SortOrder::Expiring => None,
            }
        };
        place().ok_or_else(invalid_cursor)
    }
}

/// Token for the place of one row in a listing sorted by time. The prefix ties it to that listing.
pub(crate) fn encode_time_cursor(prefix: &str, at: Timestamp, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{prefix}.{}.{id}", at.as_microsecond()))
}

/// Reads a token of [`encode_time_cursor`] made with the same prefix.
pub(crate) fn decode_time_cursor(prefix: &str, token: &str) -> Result<(Timestamp, String), Error> {
    let place = || {
        let text = decode_cursor_text(token)?;
        let (at, id) = text.strip_prefix(prefix)?.strip_prefix('.')?.split_once('.')?;
        Some((parse_micros(at)?, id.to_owned()))
    };
    place().ok_or_else(invalid_cursor)
}

const fn order_letter(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Path => "p",
        SortOrder::Newest => "n",
        SortOrder::Oldest => "o",
        SortOrder::LastTurn => "t",
        SortOrder::Fading => "f",
        SortOrder::Expiring => "e",
    }
}

fn decode_cursor_text(word: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(word).ok()?).ok()
}

fn parse_micros(micros: &str) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros.parse().ok()?).ok()
}

fn invalid_cursor() -> Error {
    Error::invalid("shape.cursor", "this cursor is not of this listing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::row::RowKind;
    use crate::review::QueuePage;

    #[test]
    fn words_come_back_and_fit_no_other_listing() {
        let id = "0195f0a0-0000-7000-8000-000000000001".parse().expect("an id");
        let at = Timestamp::from_microsecond(1_700_000_000_000_001).expect("a time");
        let places = [
            (SortOrder::Path, ListCursor::Path("a.b/c d".to_owned(), id)),
            (SortOrder::Newest, ListCursor::Time(at, id)),
            (SortOrder::Oldest, ListCursor::Time(at, id)),
        ];
        for (order, cursor) in &places {
            let word = cursor.to_token(*order);
            assert_eq!(ListCursor::from_token(*order, &word).expect("its own"), *cursor);
            for (other, _) in places.iter().filter(|(other, _)| other != order) {
                assert!(ListCursor::from_token(*other, &word).is_err(), "{order:?} as {other:?}");
            }
            assert!(QueuePage::mark_from_token(&word).is_err());
        }
        let word = encode_time_cursor(RowKind::Receipts.as_str(), at, "r.1");
        assert_eq!(decode_time_cursor(RowKind::Receipts.as_str(), &word).expect("its own"), (at, "r.1".to_owned()));
        assert!(
            decode_time_cursor(RowKind::Runs.as_str(), &word).is_err() && QueuePage::mark_from_token(&word).is_err()
        );
        let queue = QueuePage { reviews: Vec::new(), next: Some((at, "r.1".to_owned())) };
        assert_eq!(
            QueuePage::mark_from_token(&queue.next_token().expect("a word")).expect("its own"),
            (at, "r.1".to_owned())
        );
    }

    #[test]
    fn odd_words_are_none() {
        let soon = URL_SAFE_NO_PAD.encode("n.0195f0a0-0000-7000-8000-000000000001.soon");
        for odd in ["", "p", "§", &URL_SAFE_NO_PAD.encode("p.x.y"), &soon] {
            for order in [SortOrder::Path, SortOrder::Newest, SortOrder::Oldest, SortOrder::Fading] {
                assert_eq!(ListCursor::from_token(order, odd).expect_err(odd).code(), "shape.cursor");
            }
        }
    }
}
