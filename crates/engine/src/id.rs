//! Names of things: UUIDv7, so that ids sort by birth.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    )+};
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
