//! Erasure certificates: proof that something was erased, without its content.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Engine;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::{Memory, Version};
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::policy::Readable;
use crate::ports::{Address, row};
use crate::removal::quarantine::reviewers_only;
use crate::text::digest::to_hex;
use crate::text::normalize;
use crate::{safety, vocabulary};

vocabulary! {
    /// Kind of erasure.
    Erasure ("erasure") {
        Redaction = "redaction",
        User = "user",
        Project = "project",
        Pipeline = "pipeline",
        Tenant = "tenant",
    }
}

impl Erasure {
    /// What no erasure inside this database can reach, or must keep.
    const fn remaining_traces(self) -> &'static [&'static str] {
        match self {
            Erasure::Redaction => &[
                "backups, replicas and exports made before",
                "Postgres: the write-ahead log, and table pages until they are vacuumed",
                "event log: store, path, author, times and the sha256 of the text",
            ],
            Erasure::User => &[
                "backups, replicas and exports made before",
                "Postgres: the write-ahead log, and table pages until they are vacuumed",
                "event log: the name as author and in scopes, ids, times and the sha256 of each text; paths only in \
                 entries of version 0.1.0",
                "this certificate and bans: the name, keyed digests of the texts",
                "memories of the workspace, conversations, agents and runs that the person wrote or that mention the \
                 person",
                "tokens of an identity provider: withdraw them there",
            ],
            Erasure::Project | Erasure::Pipeline => &[
                "backups, replicas and exports made before",
                "Postgres: the write-ahead log, and table pages until they are vacuumed",
                "event log: the names in scopes, ids, times and the sha256 of each text; paths only in entries of \
                 version 0.1.0",
                "this certificate: the name, keyed digests of the texts",
            ],
            Erasure::Tenant => &[
                "backups, replicas and exports made before",
                "Postgres: the write-ahead log, and table pages until they are vacuumed",
                "event log: names, paths, ids, times and the sha256 of each text",
                "stores, revoked keys and certificates: their names",
                "tokens of an identity provider: withdraw them there",
            ],
        }
    }
}

/// Record of an erasure: subject, author, reason, time. Digests are keyed, so nobody can test a guess against them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Certificate {
    pub id: String,
    pub erasure: Erasure,
    /// Id of the memory, or name of the user, project, pipeline or tenant.
    pub subject: String,
    pub memories: u64,
    pub versions: u64,
    pub by: String,
    pub role: String,
    pub why: Option<String>,
    pub at: Timestamp,
    /// Ids of the erased memories, up to [`LISTED_MAX`].
    pub erased: Vec<MemoryId>,
    /// Keyed digests of the erased contents, up to [`LISTED_MAX`], in the order of the ids.
    pub digests: Vec<String>,
    /// Digest over all digests, listed or not.
    pub root: String,
    /// Where traces stay that the erasure does not reach. Absent in certificates of the first version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<String>,
    /// Digest over all fields above; the event log holds it too.
    pub seal: String,
}

/// Ids and digests listed in a certificate. The rest is covered by the count and the root.
const LISTED_MAX: usize = 1_000;

impl SideRecord for Certificate {
    const KIND: RowKind = RowKind::Certificates;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.at
    }
    fn row_state(&self) -> String {
        self.erasure.to_string()
    }
    fn row_subject(&self) -> String {
        self.subject.clone()
    }
}

/// Input of a certificate besides caller, time and key.
pub(crate) struct ErasureDetails<'a> {
    pub erasure: Erasure,
    pub subject: String,
    pub memories: &'a [Memory],
    pub versions: u64,
    pub why: Option<String>,
}

impl Certificate {
    pub(crate) fn new(
        id: String,
        caller: &Caller,
        at: Timestamp,
        key: &str,
        erased: &ErasureDetails<'_>,
    ) -> Certificate {
        let digests: Vec<String> =
            erased.memories.iter().map(|memory| normalize::hmac_sha256_hex(key, &[&memory.content])).collect();
        // Over all digests, so that memories beyond `LISTED_MAX` are covered as well.
        let mut root = Sha256::new();
        digests.iter().for_each(|digest| root.update(digest.as_bytes()));
        let certificate = Certificate {
            id,
            erasure: erased.erasure,
            subject: erased.subject.clone(),
            memories: erased.memories.len() as u64,
            versions: erased.versions,
            by: caller.principal.clone(),
            role: caller.role.to_string(),
            // The certificate outlives the text: a reason that quotes a secret would keep it.
            why: erased.why.clone().map(safety::without_secrets),
            at,
            erased: erased.memories.iter().take(LISTED_MAX).map(|memory| memory.id).collect(),
            digests: digests.into_iter().take(LISTED_MAX).collect(),
            root: to_hex(&root.finalize()),
            stays: erased.erasure.remaining_traces().iter().map(|trace| (*trace).to_owned()).collect(),
            seal: String::new(),
        };
        Certificate { seal: certificate.compute_seal(), ..certificate }
    }

    /// The seal its fields should have.
    fn compute_seal(&self) -> String {
        // The seal is computed with an empty `seal` field.
        let unsealed = Certificate { seal: String::new(), ..self.clone() };
        // Maps of plain values always serialise, so the default is never used.
        let text = serde_json::to_string(&unsealed).unwrap_or_default();
        to_hex(&Sha256::digest(text.as_bytes()))
    }
}

/// Result of checking a certificate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CertificateCheck {
    pub valid: bool,
    /// Its fields match its seal.
    pub sealed: bool,
    /// The event log of this database holds the seal.
    pub logged: bool,
    /// None of the listed memories has content here.
    pub gone: bool,
}

impl Engine {
    /// Certificates of the tenant, newest first. Reviewers and admins only.
    pub fn certificates(&self, caller: &Caller) -> Result<Vec<Certificate>, Error> {
        ensure_reviewer(caller)?;
        let filter = RowFilter { newest_first: true, limit: self.limits().list_max, ..RowFilter::default() };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// One certificate by id. Reviewers and admins only.
    pub fn certificate(&self, caller: &Caller, id: &str) -> Result<Certificate, Error> {
        ensure_reviewer(caller)?;
        row::get_record(&*self.backend, caller.tenant, id)?
            .ok_or_else(|| Error::not_found(format!("certificate `{id}`")))
    }

    /// Checks a certificate, from this database or a file, against its seal, the event log and the memories it lists.
    pub fn verify_certificate(&self, caller: &Caller, certificate: &Certificate) -> Result<CertificateCheck, Error> {
        ensure_reviewer(caller)?;
        let sealed = certificate.compute_seal() == certificate.seal;
        let logged = is_seal_logged(self, caller, &certificate.seal)?;
        let mut gone = true;
        for id in &certificate.erased {
            let found = self.backend.get_memory(&Readable::whole_tenant(caller.tenant), &Address::Id(*id))?;
            gone &= match found {
                None => true,
                // A redacted memory keeps its row with empty content.
                Some(memory) if memory.content.is_empty() => true,
                Some(_) => {
                    certificate.erasure == Erasure::Redaction && is_partly_redacted(self, caller, certificate, *id)?
                }
            };
        }
        Ok(CertificateCheck { valid: sealed && logged && gone, sealed, logged, gone })
    }
}

/// Whether as many older versions as a redaction took are without text. The current one may have been kept.
fn is_partly_redacted(
    engine: &Engine,
    caller: &Caller,
    certificate: &Certificate,
    memory: MemoryId,
) -> Result<bool, Error> {
    let (everything, mut below, mut redacted) = (Readable::whole_tenant(caller.tenant), None, 0);
    loop {
        let page = engine.backend.list_versions(&everything, memory, below, engine.limits().history_max)?;
        let is_blank = |version: &&Version| version.redacted_at.is_some() && version.memory.content.is_empty();
        redacted += page.iter().filter(is_blank).count() as u64;
        match page.last() {
            Some(last) if page.len() == engine.limits().history_max => below = Some(last.number),
            _ => return Ok(redacted >= certificate.versions),
        }
    }
}

/// Reads the whole event log: certificates are checked rarely, and the log has no index by seal.
fn is_seal_logged(engine: &Engine, caller: &Caller, seal: &str) -> Result<bool, Error> {
    let mut after = 0;
    loop {
        let events = engine.backend.events_after(caller.tenant, after, engine.limits().list_max)?;
        let holds = |value: &serde_json::Value| value.as_str() == Some(seal);
        if events.iter().any(|event| event.happening.payload.get("seal").is_some_and(holds)) {
            return Ok(true);
        }
        match events.last() {
            Some(last) => after = last.seq,
            None => return Ok(false),
        }
    }
}

fn ensure_reviewer(caller: &Caller) -> Result<(), Error> {
    match reviewers_only(caller) {
        None => Ok(()),
        Some(refusal) => Err(Error::Invalid { code: refusal.code, message: refusal.message }),
    }
}
