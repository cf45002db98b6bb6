//! Word tables of the entity reader, all in lower case. To add a word, add it to its table; `lexicon` builds one lookup
//! from all of them.
use super::EntityKind;

/// Flags and keys of assignments with the kind of their value. Without a dash a word counts only with its `=`.
pub(super) const FLAGS: &[(&str, EntityKind)] = &[
    ("-n", EntityKind::Namespace),
    ("--namespace", EntityKind::Namespace),
    ("namespace", EntityKind::Namespace),
    ("--env", EntityKind::Environment),
    ("--environment", EntityKind::Environment),
    ("env", EntityKind::Environment),
    ("environment", EntityKind::Environment),
    ("--service", EntityKind::Service),
    ("service", EntityKind::Service),
    ("app", EntityKind::Service),
];

// Words for a kind, beside which a name stands.
pub(super) const NAMESPACE_WORDS: &[&str] = &["namespace", "ns"];
pub(super) const SERVICE_WORDS: &[&str] = &["service", "svc", "microservice"];
/// Words that make an ambiguous environment beside them certain: "test cluster".
pub(super) const ENVIRONMENT_WORDS: &[&str] = &["environment", "environments", "env", "cluster", "clusters"];

/// Words for resources, with the short names of kubectl.
#[rustfmt::skip]
pub(super) const RESOURCE_WORDS: &[&str] = &[
    "deployment", "deploy", "pod", "po", "statefulset", "sts", "daemonset", "ds", "replicaset", "rs", "configmap", "cm",
    "secret", "ingress", "ing", "job", "cronjob", "cj", "node", "no", "pvc", "pv", "persistentvolumeclaim", "hpa",
    "serviceaccount", "sa", "release", "rollout", "application", "gateway", "certificate", "database", "queue",
    "bucket", "topic", "table", "container", "host", "vm",
];

/// Rows of spelling, canonical name, and whether the word alone is enough (`test` is an ordinary word and is not).
pub(super) const ENVIRONMENTS: &[(&str, &str, bool)] = &[
    ("prod", "prod", true),
    ("production", "prod", true),
    ("prd", "prod", true),
    ("staging", "staging", true),
    ("stg", "staging", true),
    ("preprod", "preprod", true),
    ("uat", "uat", true),
    ("qa", "qa", true),
    ("dev", "dev", true),
    ("development", "dev", false),
    ("stage", "staging", false),
    ("test", "test", false),
    ("testing", "test", false),
    ("sandbox", "sandbox", false),
    ("canary", "canary", false),
    ("live", "prod", false),
    ("demo", "demo", false),
];

/// Well-known software that runs as a service: spelling and canonical name.
#[rustfmt::skip]
pub(super) const SERVICES: &[(&str, &str)] = &[
    ("nginx", "nginx"), ("postgres", "postgres"), ("postgresql", "postgres"), ("mysql", "mysql"),
    ("mariadb", "mariadb"), ("redis", "redis"), ("kafka", "kafka"), ("rabbitmq", "rabbitmq"),
    ("elasticsearch", "elasticsearch"), ("opensearch", "opensearch"), ("mongodb", "mongodb"), ("mongo", "mongodb"),
    ("haproxy", "haproxy"), ("envoy", "envoy"), ("istio", "istio"), ("traefik", "traefik"), ("etcd", "etcd"),
    ("coredns", "coredns"), ("grafana", "grafana"), ("prometheus", "prometheus"), ("alertmanager", "alertmanager"),
    ("jenkins", "jenkins"), ("argocd", "argocd"), ("vault", "vault"), ("consul", "consul"), ("memcached", "memcached"),
    ("zookeeper", "zookeeper"), ("nats", "nats"), ("keycloak", "keycloak"), ("minio", "minio"),
    ("clickhouse", "clickhouse"), ("cassandra", "cassandra"), ("kubelet", "kubelet"), ("kubernetes", "kubernetes"),
    ("k8s", "kubernetes"),
];

/// Words that are no name before "service" or "pod": articles, verbs, adjectives.
#[rustfmt::skip]
pub(super) const NOT_NAMES: &[&str] = &[
    "the", "an", "this", "that", "these", "those", "our", "your", "their", "its", "my", "his", "her", "each", "every",
    "any", "some", "all", "no", "one", "new", "old", "same", "other", "another", "which", "what", "whose", "and", "or",
    "of", "in", "on", "for", "to", "by", "with", "from", "as", "at", "is", "are", "was", "were", "be", "has", "had",
    "if", "when", "after", "before", "per", "failed", "failing", "broken", "first", "last", "next", "restart", "delete",
    "create", "get", "describe", "scale", "check", "kubectl", "named", "called", "two", "three", "many", "more", "own",
    "bad", "good", "customer", "self", "public", "private", "health", "anything", "everything", "something", "nothing",
    "it", "them", "keep", "kept", "whole", "entire", "single", "both", "few", "several", "not", "there", "here", "then",
    "than", "but", "so", "also", "only", "still", "we", "they", "you",
];
