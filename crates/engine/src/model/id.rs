//! Typed ids: UUIDv7, so that ids sort by creation time.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Visitor};
use uuid::Uuid;

/// Error for a text that is not a UUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an id such as 01980000-0000-7000-8000-000000000001 is expected")]
pub struct NotAnId;

/// Parses an id of any type.
pub fn parse_id(text: &str) -> Result<Uuid, NotAnId> {
    Uuid::parse_str(text).map_err(|_| NotAnId)
}

macro_rules! id {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                parse_id(text).map(Self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(IdVisitor).map(Self)
            }
        }
    )+};
}

/// Deserialises an id with our own error message: the library's would quote the input.
struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Uuid;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Uuid, E> {
        parse_id(text).map_err(E::custom)
    }
}

id! {
    /// An isolated customer or team. Every row belongs to one tenant; no query crosses tenants.
    TenantId,
    MemoryId,
    VersionId,
    StoreId,
}

/// Builds a UUIDv7 from a time in microseconds and ten random bytes. Pure, so that the clock and randomness stay
/// outside the engine.
pub fn uuid_v7(unix_micros: i64, random: [u8; 10]) -> Uuid {
    let micros = unix_micros.max(0) as u64;
    let mut bytes = random;
    // The twelve `rand_a` bits hold the microseconds within the millisecond, as RFC 9562 allows: ids made by one
    // process in one millisecond still sort by time. Times 4 spreads 0..1000 over the range 0..4096.
    let sub = (micros % 1000) as u16 * 4;
    bytes[0] = (sub >> 8) as u8;
    bytes[1] = (sub & 0xff) as u8;
    uuid::Builder::from_unix_timestamp_millis(micros / 1000, &bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time() {
        let early = uuid_v7(1_000_000_001, [0xff; 10]);
        let late = uuid_v7(1_000_000_002, [0; 10]);
        assert!(early < late);
        assert_eq!(late.get_version_num(), 7);
    }
}
