//! Generated operational memories and queries, identical on every machine.
//!
//! A seeded generator combines services, symptoms, causes and cures. Texts share words as real notes do, and a query
//! has a few good answers among many similar ones.

use engine::model::caller::Caller;
use engine::model::id::TenantId;
use engine::model::memory::{Draft, Evidence};
use engine::model::vocabulary::{EvidenceKind, Kind};

/// Default number of conversations that half of the memories are spread over; the other half is in the workspace.
pub const CONVERSATIONS: usize = 40;

const SERVICES: &[&str] = &[
    "checkout",
    "billing",
    "search",
    "ingest",
    "gateway",
    "mailer",
    "scheduler",
    "catalog",
    "inventory",
    "login",
    "webhooks",
    "reports",
    "exports",
    "profile",
    "payments",
    "notifier",
    "resizer",
    "proxy",
    "queue",
    "ledger",
];
const NAMESPACES: &[&str] = &["prod", "staging", "dev", "canary", "batch", "edge"];
pub const SYMPTOMS: &[&str] = &[
    "crashlooped after a deploy",
    "answered with 502 for ten minutes",
    "ran out of memory every night",
    "could not resolve its database host",
    "fell behind on its queue",
    "returned stale prices",
    "timed out on every third request",
    "refused connections from the mesh",
    "filled its disk with core dumps",
    "lost its leader during a failover",
    "logged users out at random",
    "doubled its latency under load",
];
pub const CAUSES: &[&str] = &[
    "the configmap named an upstream that does not exist",
    "a probe was stricter than the start of the program",
    "the connection pool was smaller than the number of workers",
    "a certificate had expired on the internal ingress",
    "the cache was keyed by host and not by tenant",
    "a migration held a lock on the orders table",
    "the horizontal autoscaler followed the wrong metric",
    "two jobs wrote to the same volume",
    "a retry without backoff turned a hiccup into a storm",
    "the clock of one node was four minutes ahead",
    "a feature flag was on in one region only",
    "the image was built for another architecture",
];
const CURES: &[&str] = &[
    "Rolling back the configmap fixed it",
    "Raising the memory limit to twice the working set fixed it",
    "Adding a budget to the retries calmed it down",
    "Renewing the certificate and adding an alarm fixed it",
    "Moving the job to its own volume fixed it",
    "Splitting the migration into two steps fixed it",
    "Pinning the node pool and draining the bad node fixed it",
    "Turning the flag off everywhere and cleaning up fixed it",
];
const CHECKS: &[&str] = &[
    "Check the endpoints before and after.",
    "Watch the error rate for fifteen minutes.",
    "Read the live configuration back and compare.",
    "Ask the owning team before the next deploy.",
    "Confirm with a synthetic order.",
];
const KINDS: &[Kind] = &[
    Kind::IncidentLesson,
    Kind::Runbook,
    Kind::ServiceContext,
    Kind::ToolUsageLesson,
    Kind::VerificationChecklist,
    Kind::ConversationNote,
];

/// Deterministic pseudo-random numbers (xorshift).
struct SeededRng(u64);

impl SeededRng {
    fn new(seed: u64) -> SeededRng {
        // A state of zero would stay zero, and seeds that follow each other must not give similar texts.
        SeededRng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x2545_f491_4f6c_dd1d))
    }

    fn next_below(&mut self, bound: usize) -> usize {
        // The low bits of xorshift are the weakest, so the high half is used.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as usize) % bound.max(1)
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next_below(list.len())]
    }
}

/// A generated incident.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Incident {
    pub service: &'static str,
    pub namespace: &'static str,
    /// Indices into the tables, so that a paraphrase table can use them too.
    pub symptom: usize,
    pub cause: usize,
}

impl Incident {
    fn from_rng(rng: &mut SeededRng) -> Incident {
        let (service, namespace) = (rng.pick(SERVICES), rng.pick(NAMESPACES));
        Incident { service, namespace, symptom: rng.next_below(SYMPTOMS.len()), cause: rng.next_below(CAUSES.len()) }
    }

    /// Incident of the memory with this number.
    pub fn from_number(number: usize) -> Incident {
        Incident::from_rng(&mut SeededRng::new(number as u64))
    }

    pub fn symptom(&self) -> &'static str {
        SYMPTOMS[self.symptom]
    }

    pub fn cause(&self) -> &'static str {
        CAUSES[self.cause]
    }
}

/// Memory with this number, and its author: an admin for even numbers, an agent in a conversation for odd ones.
pub fn generate_memory(tenant: TenantId, number: usize, conversations: usize) -> (Caller, Draft) {
    let mut rng = SeededRng::new(number as u64);
    let incident = Incident::from_rng(&mut rng);
    let Incident { service, namespace, .. } = incident;
    let (symptom, cause) = (incident.symptom(), incident.cause());
    let content = format!(
        "{service} in namespace {namespace} {symptom}: {cause}. {}, ticket OPS-{}. {}",
        rng.pick(CURES),
        1000 + number,
        rng.pick(CHECKS)
    );
    let draft = Draft {
        path: Some(format!("{namespace}/{service}/{number}")),
        title: Some(format!("{service} {symptom}")),
        kind: Some(rng.pick(KINDS)),
        tags: Some(vec![service.to_owned(), namespace.to_owned()]),
        evidence: vec![Evidence::new(EvidenceKind::ToolResult, format!("tool call {number}"))],
        content,
        ..Draft::default()
    };
    // Half of the memories are shared, half private, as in a real workspace.
    match number % 2 {
        0 => (Caller::admin(tenant), Draft { store: "workspace_runbooks".to_owned(), ..draft }),
        _ => {
            let caller = conversation_agent(tenant, number / 2 % conversations.max(1));
            (caller, Draft { store: "conversation_memory".to_owned(), ..draft })
        }
    }
}

/// Content of the memory with this number.
pub fn memory_text(number: usize) -> String {
    generate_memory(TenantId(uuid::Uuid::nil()), number, CONVERSATIONS).1.content
}

/// The agent of this conversation.
pub fn conversation_agent(tenant: TenantId, conversation: usize) -> Caller {
    Caller::agent(tenant, "bench").in_conversation(&format!("c{conversation}"))
}

/// Query with this number: some exact, some vague, some without an answer.
pub fn generate_query(number: usize) -> String {
    // Seeds far from those of the memories, so that a query does not repeat one of them.
    let mut rng = SeededRng::new(number as u64 + 0x5eed_0000);
    let (service, namespace) = (rng.pick(SERVICES), rng.pick(NAMESPACES));
    match number % 5 {
        0 => format!("why did {service} {} in {namespace}", rng.pick(SYMPTOMS)),
        1 => format!("what fixed {service} when {}", rng.pick(CAUSES)),
        2 => format!("deployment/{service} -n {namespace} latency"),
        3 => format!("how do we verify {service} after a change"),
        // No memory mentions holidays: this is the question without an answer.
        _ => format!("holiday schedule of the {service} team"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_is_deterministic_and_without_duplicates() {
        let tenant = TenantId(uuid::Uuid::nil());
        let texts: Vec<String> =
            (0..500).map(|number| generate_memory(tenant, number, CONVERSATIONS).1.content).collect();
        let again: Vec<String> =
            (0..500).map(|number| generate_memory(tenant, number, CONVERSATIONS).1.content).collect();
        assert_eq!(texts, again);
        let distinct: std::collections::HashSet<&String> = texts.iter().collect();
        assert_eq!(distinct.len(), texts.len());
        assert_ne!(generate_query(1), generate_query(6));
    }
}
