//! Checkpoints: number and hash of the last log entry at some time, with a keyed digest. Kept outside the database,
//! they prove later that the log continues from there. Whoever can write to the database can recompute the whole chain
//! or put an old file back, but has neither the key nor the checkpoint.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Verification;
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
    /// Slug of the tenant: a database in the place of this one has a tenant of the same name with another id. `None`
    /// in a checkpoint from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    pub seq: u64,
    pub hash: String,
    pub at: Timestamp,
    /// HMAC-SHA-256 over the other fields.
    pub mac: String,
}

impl Checkpoint {
    fn sign(self, key: &str) -> Checkpoint {
        let (tenant, seq, at) = (self.tenant.to_string(), self.seq.to_string(), self.at.to_string());
        let mut parts = vec!["ingrain checkpoint", &tenant, &seq, &self.hash, &at];
        parts.extend(self.slug.as_deref());
        let mac = hmac_sha256_hex(key, &parts);
        Checkpoint { mac, ..self }
    }

    fn is_signed_with(&self, key: &str) -> bool {
        let again = self.clone().sign(key);
        // Compared as a whole, without an early end, though nobody measures a command of the operator.
        again.mac.len() == self.mac.len()
            && again.mac.bytes().zip(self.mac.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0
    }
}

impl Engine {
    /// A checkpoint of the log as far as it was verified: what came later was not. Admins only.
    pub fn checkpoint(&self, caller: &Caller, verified: &Verification, key: &str) -> Result<Checkpoint, Error> {
        admins_only(caller)?;
        let slug = self.tenant_slug(caller)?;
        let (seq, hash) = (verified.entries, verified.hash.clone());
        let unsigned = Checkpoint { tenant: caller.tenant, slug, seq, hash, at: self.clock.now(), mac: String::new() };
        Ok(unsigned.sign(key))
    }

    fn tenant_slug(&self, caller: &Caller) -> Result<Option<String>, Error> {
        let tenants = self.backend.list_tenants()?;
        Ok(tenants.into_iter().find(|tenant| tenant.id == caller.tenant).map(|tenant| tenant.slug))
    }

    /// Whether a checkpoint is about the caller's tenant: by its id, or by its slug, whatever its id is here. Admins
    /// only.
    pub fn concerns_tenant(&self, caller: &Caller, checkpoint: &Checkpoint) -> Result<bool, Error> {
        admins_only(caller)?;
        Ok(checkpoint.tenant == caller.tenant
            || (checkpoint.slug.is_some() && checkpoint.slug == self.tenant_slug(caller)?))
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
            let name = checkpoint.slug.as_deref().unwrap_or("without a name");
            let reason = format!("the checkpoint is of the tenant `{name}` with the id {tenant}, which is not in this")
                + " database: it was replaced by another one";
            return Ok(Some(reason));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_from_before_slugs_is_still_signed() {
        let (tenant, at) = (TenantId(uuid::Uuid::from_u128(7)), Timestamp::UNIX_EPOCH);
        let parts = ["ingrain checkpoint", &tenant.to_string(), "3", "ab", &at.to_string()];
        let mac = hmac_sha256_hex("key", &parts);
        let line = serde_json::json!({ "tenant": tenant, "seq": 3, "hash": "ab", "at": at, "mac": mac });
        let old: Checkpoint = serde_json::from_value(line).unwrap();
        assert!(old.is_signed_with("key"));
        let named = Checkpoint { slug: Some("default".to_owned()), ..old };
        assert!(!named.is_signed_with("key"), "the slug is signed too");
        assert!(named.sign("key").is_signed_with("key"));
    }
}
