//! Cursor tokens: the position in a listing as one opaque word, safe in URLs and shells, the same in every interface.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;

use crate::model::error::Error;
use crate::ports::{ListCursor, SortOrder};

impl ListCursor {
    /// Encodes the cursor. The token starts with the sort order, so that it is invalid for another order.
    pub fn to_token(&self, order: SortOrder) -> String {
        let letter = order_letter(order);
        URL_SAFE_NO_PAD.encode(match self {
            // The path comes last, because it may contain dots.
            ListCursor::Path(path, id) => format!("{letter}.{id}.{path}"),
            ListCursor::Time(at, id) => format!("{letter}.{id}.{}", at.as_microsecond()),
        })
    }

    /// Decodes a token of [`ListCursor::to_token`] for the same order.
    pub fn from_token(order: SortOrder, token: &str) -> Result<ListCursor, Error> {
        let decode = || {
            let text = decode_cursor_text(token)?;
            let (id, key) = text.strip_prefix(order_letter(order))?.strip_prefix('.')?.split_once('.')?;
            let id = id.parse().ok()?;
            match order {
                SortOrder::Path => Some(ListCursor::Path(key.to_owned(), id)),
                SortOrder::Newest | SortOrder::Oldest => Some(ListCursor::Time(parse_micros(key)?, id)),
                // Never offered to clients in pages.
                SortOrder::LastTurn | SortOrder::Fading | SortOrder::Expiring => None,
            }
        };
        decode().ok_or_else(invalid_cursor)
    }
}

/// Encodes the position of a row in a listing sorted by time. The prefix makes it invalid for other listings.
pub(crate) fn encode_time_cursor(prefix: &str, at: Timestamp, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{prefix}.{}.{id}", at.as_microsecond()))
}

/// Decodes a token of [`encode_time_cursor`] with the same prefix.
pub(crate) fn decode_time_cursor(prefix: &str, token: &str) -> Result<(Timestamp, String), Error> {
    let decode = || {
        let text = decode_cursor_text(token)?;
        let (at, id) = text.strip_prefix(prefix)?.strip_prefix('.')?.split_once('.')?;
        Some((parse_micros(at)?, id.to_owned()))
    };
    decode().ok_or_else(invalid_cursor)
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

fn decode_cursor_text(token: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()
}

fn parse_micros(micros: &str) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros.parse().ok()?).ok()
}

fn invalid_cursor() -> Error {
    Error::invalid("shape.cursor", "this cursor does not belong to this listing; start again without one")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::row::RowKind;
    use crate::review::QueuePage;

    #[test]
    fn tokens_round_trip_and_fit_no_other_listing() {
        let id = "0195f0a0-0000-7000-8000-000000000001".parse().expect("an id");
        let at = Timestamp::from_microsecond(1_700_000_000_000_001).expect("a time");
        let cursors = [
            (SortOrder::Path, ListCursor::Path("a.b/c d".to_owned(), id)),
            (SortOrder::Newest, ListCursor::Time(at, id)),
            (SortOrder::Oldest, ListCursor::Time(at, id)),
        ];
        for (order, cursor) in &cursors {
            let token = cursor.to_token(*order);
            assert_eq!(ListCursor::from_token(*order, &token).expect("its own"), *cursor);
            for (other, _) in cursors.iter().filter(|(other, _)| other != order) {
                assert!(ListCursor::from_token(*other, &token).is_err(), "{order:?} as {other:?}");
            }
            assert!(QueuePage::mark_from_token(&token).is_err());
        }
        let token = encode_time_cursor(RowKind::Receipts.as_str(), at, "r.1");
        assert_eq!(decode_time_cursor(RowKind::Receipts.as_str(), &token).expect("its own"), (at, "r.1".to_owned()));
        assert!(
            decode_time_cursor(RowKind::Runs.as_str(), &token).is_err() && QueuePage::mark_from_token(&token).is_err()
        );
        let queue = QueuePage { reviews: Vec::new(), next: Some((at, "r.1".to_owned())) };
        assert_eq!(
            QueuePage::mark_from_token(&queue.next_token().expect("a token")).expect("its own"),
            (at, "r.1".to_owned())
        );
    }

    #[test]
    fn malformed_tokens_are_refused() {
        let not_a_time = URL_SAFE_NO_PAD.encode("n.0195f0a0-0000-7000-8000-000000000001.soon");
        for malformed in ["", "p", "§", &URL_SAFE_NO_PAD.encode("p.x.y"), &not_a_time] {
            for order in [SortOrder::Path, SortOrder::Newest, SortOrder::Oldest, SortOrder::Fading] {
                assert_eq!(ListCursor::from_token(order, malformed).expect_err(malformed).code(), "shape.cursor");
            }
        }
    }
}
