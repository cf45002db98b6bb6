//! List of all rules with descriptions and examples, for the documentation, the console and the tests.
use std::sync::LazyLock;

use super::pattern::PATTERNS;
use super::{Concern, Severity, injection, shape, tokens};

/// Description of one rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: &'static str,
    pub concern: Concern,
    pub severity: Severity,
    /// What it finds, in one phrase.
    pub finds: String,
    /// A text that it finds.
    pub positive: String,
    /// A similar text that it lets pass.
    pub negative: String,
    /// Injections only: what the order wants.
    pub intent: Option<&'static str>,
    /// Token formats in the shape language; empty for other rules.
    pub shapes: Vec<&'static str>,
}

/// All rules: secrets, then injections, then raw logs. Injection rules share names: one entry per wording.
pub fn rules() -> &'static [Rule] {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(build_rules);
    &RULES
}

fn build_rules() -> Vec<Rule> {
    let formats = tokens::all_families().map(|token| Rule {
        name: token.name,
        concern: Concern::Secret,
        severity: token.severity,
        finds: token.finds.to_owned(),
        positive: format!("use {} for the sync", shape::example_token(token.shapes[0], false)),
        negative: format!("use {} for the sync", shape::example_token(token.shapes[0], true)),
        intent: None,
        shapes: token.shapes.to_vec(),
    });
    let patterns = PATTERNS.iter().map(|pattern| Rule {
        name: pattern.name,
        concern: Concern::Secret,
        severity: pattern.severity,
        finds: pattern.finds.to_owned(),
        positive: shape::fill_template(pattern.positive),
        negative: shape::fill_template(pattern.negative),
        intent: None,
        shapes: Vec::new(),
    });
    let orders = injection::all_orders().map(|order| Rule {
        name: order.name,
        concern: Concern::Injection,
        severity: order.severity,
        finds: order.intent.to_owned(),
        positive: order.positive.to_owned(),
        negative: order.negative.to_owned(),
        intent: Some(order.intent),
        shapes: Vec::new(),
    });
    let wordings = injection::grammar_rules().map(|(name, intent, severity, positive, negative)| Rule {
        name,
        concern: Concern::Injection,
        severity,
        finds: intent.to_owned(),
        positive: positive.to_owned(),
        negative: negative.to_owned(),
        intent: Some(intent),
        shapes: Vec::new(),
    });
    formats.chain(patterns).chain(coded_rules()).chain(orders).chain(wordings).chain([raw_log_rule()]).collect()
}

/// Rules that are code and not rows of a table. To add one, write its name, severity, description, a text that it finds
/// and one that passes.
fn coded_rules() -> impl Iterator<Item = Rule> {
    const ROWS: &[(&str, Severity, &str, &str, &str)] = &[
        (
            "private_key",
            Severity::Critical,
            "private key blocks of every kind",
            "-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n-----END PRIVATE KEY-----",
            "the file starts with -----BEGIN PRIVATE KEY----- and a line break",
        ),
        (
            "kubeconfig",
            Severity::Critical,
            "kubeconfigs, in any order of keys, YAML or JSON",
            "users:\n- name: ops\nclusters:\n- name: prod\nkind: Config\n",
            "kind: ConfigMap\nmetadata:\n  name: clusters\n",
        ),
        (
            "kubernetes_secret",
            Severity::Critical,
            "values of Kubernetes Secrets",
            "kind: Secret\ndata:\n  password: S3g3dlEybUw5clQ0\n",
            "kind: Secret\ndata:\n  password: <base64>\n",
        ),
        (
            "database_url",
            Severity::Critical,
            "URLs of databases and brokers with a password",
            "postgres://app:Kx7vQ2mL9@db.internal:5432/orders",
            "postgres://app@db.internal:5432/orders",
        ),
        (
            "url_credentials",
            Severity::Critical,
            "other URLs with a password or token",
            "https://ci:Kx7vQ2mL9rT4@git.internal/acme.git",
            "https://ci:${TOKEN}@git.internal/acme.git",
        ),
        (
            "assigned_secret",
            Severity::High,
            "values that a label announces: assignments, headers, settings, prose",
            "DB_PASSWORD=Kx7vQ2mL9rT4",
            "DB_PASSWORD=${DB_PASSWORD}",
        ),
        (
            "nearby_secret",
            Severity::High,
            "random values shortly after a label that names a secret",
            "the api token of the mirror, as agreed with the team yesterday:\n{w24}",
            "the api token of the mirror, as agreed with the team yesterday, is in the vault",
        ),
        (
            "prefixed_token",
            Severity::High,
            "random values behind a short prefix: 16 characters if the prefix names a secret, 24 otherwise",
            "I used acme_{w28}",
            "I used acme_orders_worker_configuration_service",
        ),
        (
            "high_entropy",
            Severity::High,
            "40 characters or more with at least 4.5 bits of entropy each",
            "the value was {w48}",
            "sha512-{w48}",
        ),
    ];
    ROWS.iter().map(|&(name, severity, finds, positive, negative)| Rule {
        name,
        concern: Concern::Secret,
        severity,
        finds: finds.to_owned(),
        positive: shape::fill_template(positive),
        negative: shape::fill_template(negative),
        intent: None,
        shapes: Vec::new(),
    })
}

fn raw_log_rule() -> Rule {
    let lines = |count: usize| {
        (0..count).map(|second| format!("2026-03-11T08:00:{:02}Z INFO tick\n", second % 60)).collect::<String>()
    };
    Rule {
        name: "raw_log",
        concern: Concern::RawLog,
        severity: Severity::Medium,
        finds: "more than 30 lines with a time stamp".to_owned(),
        positive: lines(31),
        negative: lines(30),
        intent: None,
        shapes: Vec::new(),
    }
}
