//! Names of things: UUIDv7, so that ids sort by birth.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Visitor};
use uuid::Uuid;

/// What people are told of a text that names nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an id such as 01980000-0000-7000-8000-000000000001 is expected")]
pub struct NotAnId;

/// Reads an id of any sort.
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

/// Reads an id in our own words: the library's quote what it did not understand.
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
    /// A hard wall: nothing crosses it.
    TenantId,
    MemoryId,
    VersionId,
    StoreId,
}

/// Builds a UUIDv7 from a time and ten random bytes, so that the engine needs neither clock nor dice.
pub fn uuid_v7(unix_micros: i64, random: [u8; 10]) -> Uuid {
    let micros = unix_micros.max(0) as u64;
    let mut bytes = random;
    // The twelve bits after the version hold the microseconds within the millisecond:
    // ids made by one process in one millisecond still sort by time.
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
