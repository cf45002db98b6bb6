//! Checkpoints: number and hash of the last log entry at some time, with a keyed digest. Kept outside the database,
//! they prove later that the log continues from there. Whoever can write to the database can recompute the whole chain
//! or put an old file back, but has neither the key nor the checkpoint.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::chain_hash;
use crate::model::id::TenantId;
use crate::policy::admins_only;
use crate::text::normalize::hmac_sha256_hex;

/// Number and hash of a log entry, signed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    pub tenant: TenantId,
    pub seq: u64,
    pub hash: String,
    pub at: Timestamp,
    /// HMAC-SHA-256 over the other fields.
    pub mac: String,
}

impl Checkpoint {
    fn sign(tenant: TenantId, seq: u64, hash: String, at: Timestamp, key: &str) -> Checkpoint {
        let mac = hmac_sha256_hex(
            key,
            &["ingrain checkpoint", &tenant.to_string(), &seq.to_string(), &hash, &at.to_string()],
        );
        Checkpoint { tenant, seq, hash, at, mac }
    }

    fn is_signed_with(&self, key: &str) -> bool {
        let again = Checkpoint::sign(self.tenant, self.seq, self.hash.clone(), self.at, key);
        // Compared as a whole, without an early end, though nobody measures a command of the operator.
        again.mac.len() == self.mac.len()
            && again.mac.bytes().zip(self.mac.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
    }
}

impl Engine {
    /// A checkpoint of the caller's log as it is now. Admins only. Read from the head: cheap.
    pub fn checkpoint(&self, caller: &Caller, key: &str) -> Result<Checkpoint, Error> {
        admins_only(caller)?;
        let (seq, hash) = self.backend.log_head(caller.tenant)?;
        Ok(Checkpoint::sign(caller.tenant, seq, hash, self.clock.now(), key))
    }

    /// Why the log is not a continuation of the checkpoint; `None` if it is. Admins only. Says nothing about the
    /// entries after it: [`Engine::verify`] follows the chain.
    pub fn contradicts_checkpoint(
        &self,
        caller: &Caller,
        checkpoint: &Checkpoint,
        key: &str,
    ) -> Result<Option<String>, Error> {
        admins_only(caller)?;
        let Checkpoint { tenant, seq, hash, .. } = checkpoint;
        if !checkpoint.is_signed_with(key) {
            return Ok(Some(format!("the checkpoint at entry {seq} is not signed with this key")));
        }
        if *tenant != caller.tenant {
            return Ok(Some(format!("the checkpoint is of another tenant, {tenant}")));
        }
        if *seq == 0 {
            return Ok(None);
        }
        // Two entries: the hash is computed and not only read, so that it cannot be put back alone.
        let entries = self.backend.scan_log(*tenant, seq.saturating_sub(2), 2)?;
        let Some(entry) = entries.iter().find(|entry| entry.seq == *seq) else {
            let reason = format!("the log had entry {seq} at {} and ends before it: entries were lost", checkpoint.at);
            return Ok(Some(reason));
        };
        let before = entries.iter().find(|entry| entry.seq + 1 == *seq).map(|entry| entry.hash.as_str());
        let computed = chain_hash(before.unwrap_or_default(), *seq, &entry.body, entry.digests.as_deref());
        Ok((computed != *hash || entry.hash != *hash)
            .then(|| format!("entry {seq} is not the one of {}: the log was rewritten or replaced", checkpoint.at)))
    }
}
