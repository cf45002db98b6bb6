//! Duties of discretion: keeping a secret or somebody's data out of a place or from outsiders is a good rule. Keeping an
//! action, a text or a fact from the people responsible is not, and neither is keeping anything from the user.
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::super::word_list::WordList;

/// The rules whose words such a duty shares.
const RULES: &[&str] = &["injection_conceal", "injection_exfiltrate"];

/// True when the found words stand within a clause that only says what is not to be given away.
pub(super) fn is_discretion_duty(rule: &str, sentence: &str, from: usize, to: usize) -> bool {
    let within = |(begin, end)| to <= end && (begin <= from || is_secret_lead(sentence, from, begin));
    RULES.contains(&rule)
        && DUTY.captures_iter(sentence.as_bytes()).any(|found| duty_clause(sentence, &found).is_some_and(within))
}

/// What stands before the clause only speaks of secrets: "Passwords live in the vault: never …".
fn is_secret_lead(sentence: &str, from: usize, begin: usize) -> bool {
    let lead = sentence.get(from..begin).unwrap_or_default();
    SECRET_START.is_match(lead.as_bytes()) && is_harmless_tail(lead) && !lead.contains(['@', '/'])
}

static SECRET_START: LazyLock<Regex> = LazyLock::new(|| {
    // INVARIANT: a constant pattern, built in its tests.
    Regex::new("^(?:pass(?:word|phrase|code)|token|credential|secret|key)s?\\b").expect("a constant pattern")
});

/// "Never … the token": what is not to be done, the words up to what is kept, and that with whatever may follow it.
/// Whatever it is a part of ("the token transfer") is something else.
static DUTY: LazyLock<Regex> = LazyLock::new(|| {
    let verb = "(?:reveal|disclos|put|post|past|writ|mention|tell|shar|includ|show|print|log|echo|expos|leak|publish|quot|\
        repeat|giv|display|record|list|name|stor|keep|leav|enter|typ|copy|discuss|commit|hand out|read out|spell out|pass on)\
        (?:e|ing|ting)?";
    let whom = "(?:(?:any|some|every)(?:one|body)(?: else)?|people|others|outsiders|strangers|callers?|customers|guests|\
        visitors|third parties|colleagues|a caller|the caller|each other)";
    let whose = "(?:customer|client|patient|employee|user|person|people|guest|member|tenant|applicant|student|child|children|\
        colleague|caller|visitor)(?:'s|s'|s)?";
    let private = format!(
        "(?:(?:pass(?:word|phrase|code)|pin|token|credential|secret|login|otp|cvv|cookie|iban|ssn|salar(?:y|ie))s?|\
        (?:key|code|phrase|connection string|session id|(?:account|card|phone|mobile|passport|social security) number|\
        (?:home|email|e-mail|ip|private|postal) address(?:e)?|birthday|date of birth|diagnosi)s?|dates of birth|pii|phi|\
        (?:personal|private|confidential|sensitive|health|medical|payment|card|contact|bank|customer|patient|client) \
        (?:data|information|details|records?)|{whose} (?:full |real |first |last )?(?:names?|data|details|records?|addresse?s?))"
    );
    let follow = "(?:\\s*(?:$|[.,;:!?)])|\\s+(?:in|into|to|on|onto|at|with|for|from|of|over|via|by|anywhere|outside|or|and|nor|even|\
        unless|when|while|during|publicly|verbatim|through|inside|within|there|here|again)\\b)";
    let never = "(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|may not|shall not|cannot|can't|not|avoid|without)";
    // INVARIANT: a constant pattern, built in its tests.
    RegexBuilder::new(&format!(
        "\\b{never}\\s+(?:ever\\s+)?(?P<verb>{verb}(?:(?:\\s*[,/]\\s*|\\s+(?:or|and|nor)\\s+){verb})*|let(?:ting)?\\s+{whom}\\s+(?:see|know|have|read))\
        \\s+(?:{whom}\\s+)?(?P<before>(?:[a-z0-9$'_-]+\\s+){{0,4}}?)(?P<kept>{private}){follow}"
    ))
    .unicode(false)
    .size_limit(1 << 22)
    .build()
    .expect("a constant pattern")
});

/// Between verb and secret these make it a fact about the secret, or somebody who is not to hear of it.
static BARRED_BEFORE_SECRET: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "about,to,that,which,what,how,why,this,these,it,you,he,she,they,if,when,whether,from,of,was,were,is,are,\
         missing,stolen,lost,new,extra,additional,second,third,hidden,wrong,fake,forged,sent,bad,another,same",
    )
});

/// Right after these stands who is told.
const TELLING_VERBS: &[&str] = &["tell", "show", "giv", "let"];

/// Whoever a person answers to, or whom the agent works for.
static RESPONSIBLE_PEOPLE: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "user,operator,operators,owner,owners,reviewer,reviewers,admin,admins,administrator,administrators,auditor,\
         auditors,supervisor,supervisors,maintainer,maintainers,human,humans,manager,managers,security,on-call,oncall,boss",
    )
});

/// After the secret, these say that something was done with it.
static ACTION_WORDS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new(
        "you,that,sent,copied,stolen,leaked,transferred,exfiltrated,exported,forwarded,collected,took,taken,changed,\
         deleted,moved,transfer,change,deletion,export",
    )
});

/// Where things are written: "this channel" is a place, "this note" would be the planted text.
static PLACE_WORDS: LazyLock<WordList> = LazyLock::new(|| {
    WordList::new("channel,chat,wiki,repo,repository,ticket,file,page,room,thread,project,workspace,group,list,board")
});

/// The clause, where it is one.
fn duty_clause(sentence: &str, found: &Captures<'_>) -> Option<(usize, usize)> {
    let (all, kept) = (found.get(0)?, found.name("kept")?);
    let text = |name: &str| found.name(name).and_then(|part| std::str::from_utf8(part.as_bytes()).ok());
    let names_listener = TELLING_VERBS.iter().any(|verb| text("verb").is_some_and(|found| found.contains(verb)));
    let plain = |word: &str| {
        let happened = word.ends_with("ed") && !matches!(word, "shared" | "encrypted" | "unencrypted" | "hashed");
        !(BARRED_BEFORE_SECRET.contains(word) || happened || names_listener && RESPONSIBLE_PEOPLE.contains(word))
    };
    let end =
        sentence.get(kept.end()..)?.find([',', ';', ':', '.', '!', '?']).map_or(sentence.len(), |at| kept.end() + at);
    (split_words(text("before")?).all(plain) && is_harmless_tail(sentence.get(kept.end()..end)?))
        .then_some((all.start(), end))
}

/// Nothing after the secret speaks of somebody responsible, of a deed, or of the text itself.
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
