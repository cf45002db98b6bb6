//! Duties of discretion: "never share the password" and "do not post customer data in this channel" are good rules,
//! though they use the words of concealment.
//!
//! The excuse covers secrets and personal data that are kept out of a place or from outsiders. It does not cover an
//! action, a text or a fact that is kept from responsible people, nor anything that is kept from the user.
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::super::word_list::WordList;

/// Rules to which this excuse applies.
const RULES: &[&str] = &["injection_conceal", "injection_exfiltrate"];

/// Whether the match at `from..to` lies within a clause that only says what must not be given away.
pub(super) fn is_discretion_duty(rule: &str, sentence: &str, from: usize, to: usize) -> bool {
    let within = |(begin, end)| to <= end && (begin <= from || is_secret_lead(sentence, from, begin));
    RULES.contains(&rule)
        && DUTY.captures_iter(sentence.as_bytes()).any(|found| duty_clause(sentence, &found).is_some_and(within))
}

/// Whether the part of the match before the clause only speaks of secrets: "Passwords live in the vault: never …".
fn is_secret_lead(sentence: &str, from: usize, begin: usize) -> bool {
    let lead = sentence.get(from..begin).unwrap_or_default();
    SECRET_START.is_match(lead.as_bytes()) && is_harmless_tail(lead) && !lead.contains(['@', '/'])
}

static SECRET_START: LazyLock<Regex> = LazyLock::new(|| {
    // INVARIANT: a constant pattern; the tests build it.
    Regex::new("^(?:pass(?:word|phrase|code)|token|credential|secret|key)s?\\b").expect("a constant pattern")
});

/// The duty clause: negation, verb of giving away, up to four words, the secret or personal data, and a word that may
/// follow it. The last part keeps compounds out: in "never mention the token transfer" the transfer is concealed, not
/// the token.
static DUTY: LazyLock<Regex> = LazyLock::new(|| {
    // Stems with optional endings; `(?:e|ing|ting)?` covers `share`, `sharing`, `putting`.
    let verb = "(?:reveal|disclos|put|post|past|writ|mention|tell|shar|includ|show|print|log|echo|expos|leak|publish|\
        quot|repeat|giv|display|record|list|name|stor|keep|leav|enter|typ|copy|discuss|commit|hand out|read out|\
        spell out|pass on)(?:e|ing|ting)?";
    let whom = "(?:(?:any|some|every)(?:one|body)(?: else)?|people|others|outsiders|strangers|callers?|customers|\
        guests|visitors|third parties|colleagues|a caller|the caller|each other)";
    let whose = "(?:customer|client|patient|employee|user|person|people|guest|member|tenant|applicant|student|child|\
        children|colleague|caller|visitor)(?:'s|s'|s)?";
    let private = format!(
        "(?:(?:pass(?:word|phrase|code)|pin|token|credential|secret|login|otp|cvv|cookie|iban|ssn|salar(?:y|ie))s?|\
        (?:key|code|phrase|connection string|session id|(?:account|card|phone|mobile|passport|social security) number|\
        (?:home|email|e-mail|ip|private|postal) address(?:e)?|birthday|date of birth|diagnosi)s?|\
        dates of birth|pii|phi|\
        (?:personal|private|confidential|sensitive|health|medical|payment|card|contact|bank|customer|patient|client) \
        (?:data|information|details|records?)|\
        {whose} (?:full |real |first |last )?(?:names?|data|details|records?|addresse?s?))"
    );
    let follow = "(?:\\s*(?:$|[.,;:!?)])|\\s+(?:in|into|to|on|onto|at|with|for|from|of|over|via|by|anywhere|outside|\
        or|and|nor|even|unless|when|while|during|publicly|verbatim|through|inside|within|there|here|again)\\b)";
    let never = "(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|shall not|cannot|can't|not|\
        avoid|without)";
    // INVARIANT: a constant pattern; the tests build it.
    RegexBuilder::new(&format!(
        "\\b{never}\\s+(?:ever\\s+)?\
        (?P<verb>{verb}(?:(?:\\s*[,/]\\s*|\\s+(?:or|and|nor)\\s+){verb})*|\
        let(?:ting)?\\s+{whom}\\s+(?:see|know|have|read))\
        \\s+(?:{whom}\\s+)?(?P<before>(?:[a-z0-9$'_-]+\\s+){{0,4}}?)(?P<kept>{private}){follow}"
    ))
    .unicode(false)
    // The nested lists compile to more than a small regex; 4 MiB leave room for new words.
    .size_limit(1 << 22)
    .build()
    .expect("a constant pattern")
});

/// Words between verb and secret that make it a fact about the secret ("mention that the token …", "the stolen key").
static BARRED_BEFORE_SECRET: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "about,to,that,which,what,how,why,this,these,it,you,he,she,they,if,when,whether,from,of,was,were,is,are,\
         missing,stolen,lost,new,extra,additional,second,third,hidden,wrong,fake,forged,sent,bad,another,same",
    )
});

/// Verbs that are followed by the listener.
const TELLING_VERBS: &[&str] = &["tell", "show", "giv", "let"];

/// People from whom nothing may be kept: the user, and those responsible for the agent or its work.
static RESPONSIBLE_PEOPLE: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "user,operator,operators,owner,owners,reviewer,reviewers,admin,admins,administrator,administrators,auditor,\
         auditors,supervisor,supervisors,maintainer,maintainers,human,humans,manager,managers,security,on-call,oncall,\
         boss",
    )
});

/// Words after the secret that say that something was done with it: "the key you copied".
static ACTION_WORDS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "you,that,sent,copied,stolen,leaked,transferred,exfiltrated,exported,forwarded,collected,took,taken,changed,\
         deleted,moved,transfer,change,deletion,export",
    )
});

/// Places where things are written. "This channel" is a place; "this note" would be the planted text itself.
static PLACE_WORDS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new("channel,chat,wiki,repo,repository,ticket,file,page,room,thread,project,workspace,group,list,board")
});

/// Span of the duty clause; `None` if a word in it speaks of something else than the secret.
fn duty_clause(sentence: &str, found: &Captures<'_>) -> Option<(usize, usize)> {
    let (all, kept) = (found.get(0)?, found.name("kept")?);
    let text = |name: &str| found.name(name).and_then(|part| std::str::from_utf8(part.as_bytes()).ok());
    let names_listener = TELLING_VERBS.iter().any(|verb| text("verb").is_some_and(|found| found.contains(verb)));
    let plain = |word: &str| {
        // "never mention the copied token": a participle makes it something that was done.
        let happened = word.ends_with("ed") && !matches!(word, "shared" | "encrypted" | "unencrypted" | "hashed");
        !(BARRED_BEFORE_SECRET.contains(word) || happened || names_listener && RESPONSIBLE_PEOPLE.contains(word))
    };
    let end =
        sentence.get(kept.end()..)?.find([',', ';', ':', '.', '!', '?']).map_or(sentence.len(), |at| kept.end() + at);
    (split_words(text("before")?).all(plain) && is_harmless_tail(sentence.get(kept.end()..end)?))
        .then_some((all.start(), end))
}

/// Whether the words after the secret name no responsible person, no action and not the text itself.
fn is_harmless_tail(tail: &str) -> bool {
    let mut after = split_words(tail).peekable();
    while let Some(word) = after.next() {
        let itself =
            matches!(word, "this" | "these" | "it") && !after.peek().is_some_and(|next| PLACE_WORDS.contains(next));
        if itself || RESPONSIBLE_PEOPLE.contains(word) || ACTION_WORDS.contains(word) {
            return false;
        }
    }
    true
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|mark: char| !mark.is_alphanumeric() && !matches!(mark, '-' | '\'')).filter(|word| !word.is_empty())
}
