//! Patterns of English orders, one file per intent; each row is one wording.
//!
//! To add a wording, append a row to the file of its intent: the fields are those of `OrderPattern`. Take rare words or
//! phrases as anchors, since the regex runs on every sentence that has one. Then raise `RULES_VERSION` and regenerate
//! the reference page (see `safety`).
mod authority;
mod concealment;
mod exfiltration;
mod override_rules;
mod skip_approval;
mod standing_orders;
mod tool_abuse;

use super::OrderPattern;

/// Word lists that patterns use by name, as in `skip {check}`. To add a word, add it to the alternation.
const WORD_LISTS: &[(&str, &str)] = &[
    (
        "{all}",
        concat!(
            r"(?:all|any|every|each|the|your|my|our|these|those|this|that|of|its|other|such|to|about|previous(?:ly)?",
            r"|previos|prior|earlier|above|preceding|foregoing|former|past|existing|current|original|initial|first",
            r"|last|old|system|safety|security|given|stated|developer|default|internal|built-in|provided",
            r"|aforementioned|content|ethical|moral|openai|and)",
        ),
    ),
    (
        "{rules}",
        concat!(
            r"(?:instruct[a-z]*|instuct[a-z]*|instruc?ton[a-z]*|prompts?|rules?|guidelines?|guidance|directions?",
            r"|directives?|restrictions?|guardrails?|safeguards?|programming|training|assignments?|constraints?",
            r"|protocols?|policies)",
        ),
    ),
    (
        "{check}",
        concat!(
            r"(?:approvals?|confirmations?|reviews?|reviewers?|verifications?|authori[sz]ations?|permissions?",
            r"|sign-?offs?|consent|human[ -]in[ -]the[ -]loop|human oversight|safety checks?|safety polic(?:y|ies)",
            r"|safeguards?|guardrails?|policy checks?|change control|four-eyes|two-person rule|security checks?",
            r"|security polic(?:y|ies)|access controls?|validation gates?|verification polic(?:y|ies)",
            r"|verification steps?|dry[ -]runs?)",
        ),
    ),
    (
        "{act}",
        concat!(
            r"(?:delete|drop|execute|run|apply|deploy|merge|transfer|send|approve|grant|restart|scale|proceed|change",
            r"|modify|push|terminate|perform|make|carry out|act|continue|go ahead|destroy|remove|wipe|purge|pay",
            r"|release|rotate|update|install|promote|publish|commit|write|accept|call|invoke|issue|open|close|roll",
            r"|edit|alter|disable|enable|create|shut)",
        ),
    ),
    (
        "{imp}",
        concat!(
            r"(?:^[\s>*#\-]*|[.!?:;,]\s*|\b(?:please|now|then|and|always|must|should|shall|will|simply|just|also|to",
            r"|instead|so|it is (?:ok|fine|safe) to|you|feel free to|(?:assistant|agent|ai|model|bot)s?,?)\s+",
            r"|[a-z]\)\s*|\]\s*)",
        ),
    ),
    ("{agent}", r"(?:assistant|agent|ai|model|llm|chatbot|bot|chatgpt|gpt|claude|copilot)s?"),
    (
        "{person}",
        concat!(
            r"(?:users?|operators?|humans?|admins?|administrators?|reviewers?|owners?|supervisors?|anyone|anybody",
            r"|security team|on-?call|people|team|maintainers?)",
        ),
    ),
    (
        "{secret}",
        concat!(
            r"(?:conversations?|chats?|chat history|transcripts?|credentials?|passwords?|secrets?|api[ -]?keys?",
            r"|tokens?|environment variables?|env vars?|private keys?|ssh keys?|user data|customer data",
            r"|customer records?|personal data|memor(?:y|ies)|system prompt|session (?:data|history)|cookies",
            r"|kubeconfigs?|user information|inbox|emails|contents? of|full context|context window|message history",
            r"|everything)",
        ),
    ),
    (
        "{away}",
        concat!(
            r"(?:https?://|[a-z0-9._+\-]+@[a-z0-9\-]+\.[a-z]|s3://|ftp://|gs://|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}",
            r"|webhook|external|pastebin|attacker|my server|gist|this address|the following (?:address|url|endpoint)",
            r"|telegram|discord|(?:the )?(?:address|url|link|endpoint) (?:below|above))",
        ),
    ),
];

/// The pattern with the names of word lists replaced by the lists. Regex repetitions such as `{0,5}` are left alone.
pub(super) fn expand_word_lists(pattern: &str) -> String {
    WORD_LISTS.iter().fold(pattern.to_owned(), |text, (name, list)| text.replace(name, list))
}

static FAMILIES: [&[OrderPattern]; 7] = [
    override_rules::ORDERS,
    skip_approval::ORDERS,
    concealment::ORDERS,
    exfiltration::ORDERS,
    authority::ORDERS,
    standing_orders::ORDERS,
    tool_abuse::ORDERS,
];

/// All English rows, by intent.
pub(super) fn order_patterns() -> impl Iterator<Item = &'static OrderPattern> {
    FAMILIES.into_iter().flatten()
}
