//! Excuses: cases in which the words of an order are no order, because they are negated, quoted, reported or about an
//! ordinary matter.
//!
//! To let a sentence pass, add the word to the regex of its case or to `ORDINARY_WORDS`. Sentences are in lower case.
//! The regexes run on bytes: a letter outside ASCII is several bytes and cannot stand in a character class.
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::super::word_list::WordList;

/// Whether the text around the match at `start..end` makes it a prohibition, a requirement, a quotation or a report.
pub(super) fn is_excused(sentence: &str, start: usize, end: usize) -> bool {
    let (Some(before), Some(after)) = (sentence.get(..start), sentence.get(end..)) else { return false };
    is_negated(before)
        || is_requirement(before, &sentence[start..end])
        || FORBIDDEN.is_match(sentence.as_bytes())
        || is_reported(before)
        || is_quoted(before, after) && QUOTATION_CUE.is_match(sentence.as_bytes())
}

/// Rows of rule, words that make the sentence an ordinary remark, and words that cancel this. Comma-separated; to add a
/// word, append it. "Skip the review in staging" passes, "skip the review in staging and production" does not.
const ORDINARY_WORDS: &[(&str, &str, &str)] = &[
    (
        "injection_skip_approval",
        "twice,staging,sandbox,dev,scratch,localhost,preview,ephemeral,scripts,ci,pipelines,cron,typo,typos,demo,\
         video,docs,wiki,rehearsal",
        "prod,production,live,customer,customers,payment,payments,secret,secrets,all,every,always",
    ),
    (
        "injection_false_memory",
        "staging,sandbox,dev,scratch,localhost,preview,ephemeral,ci,typo,typos,demo,docs,wiki,documentation,example,\
         examples",
        "prod,production,live,customer,customers,payment,payments,secret,secrets,all,every,always",
    ),
    (
        "injection_conceal",
        "before,until,unless,menu,menus,button,buttons,column,columns,banner,tab,widget,dialog,sidebar,panel,tooltip,\
         icon",
        "instruction,note,memory",
    ),
    (
        "injection_replicate",
        "footer,header,page,pages,template,checklist,step,steps,dockerfile,dockerfiles,makefile,makefiles,config,yaml,\
         ticket,tickets,slide,crontab,bashrc,zshrc,profile,gitignore,nginx",
        "memory,memories,summary,summaries,agent,agents,prompt",
    ),
    (
        "injection_persona",
        "contact,reviewer,deputy,backup,lead,moderator,buddy,mentor,coordinator,chair,liaison,substitute,testing,test,\
         tests,customer,customers,proxy,if,though,captain,guest,host,buyer,visitor",
        "no,without,never,unrestricted,unfiltered,ai,dan,ignore,evil,hacker,root,rules,restrictions",
    ),
];

/// [`ORDINARY_WORDS`] as lists that can be looked up.
static ORDINARY_LISTS: LazyLock<Vec<(&str, WordList, WordList)>> = LazyLock::new(|| {
    ORDINARY_WORDS.iter().map(|(name, words, unless)| (*name, WordList::new(words), WordList::new(unless))).collect()
});

/// Whether the sentence is an ordinary remark for this rule.
pub(super) fn is_ordinary_remark(rule: &str, sentence: &str) -> bool {
    let mentions = |list: &WordList| {
        sentence
            .split(|mark: char| !mark.is_alphanumeric() && mark != '-')
            .any(|word| !word.is_empty() && list.contains(word))
    };
    ORDINARY_LISTS.iter().any(|(name, words, unless)| *name == rule && mentions(words) && !mentions(unless))
}

fn build_regex(pattern: &str) -> Regex {
    // INVARIANT: constants of this file; the tests build them all.
    RegexBuilder::new(pattern).unicode(false).build().expect("a constant pattern")
}

/// Negation right before the match: `never`, `do not`, and their counterparts in other languages.
static NEGATION: LazyLock<Regex> = LazyLock::new(|| {
    build_regex(concat!(
        r"(?:\b(?:never|not|don't|dont|mustn't|shouldn't|cannot|can't|won't",
        r"|(?:refuses?|declines?|rejects?) (?:requests? |attempts? |orders? )?to|avoid|without|forbidden to",
        r"|prohibited (?:from|to)|unable to|nie|niemals|nicht|ne pas|jamais|nunca|non|mai|nooit|niet|nigdy)[ \t]+",
        r"(?:[a-z]+[ \t]+){0,2}$)",
        r"|\b(?:nobody|no one|none)\b[^.]{0,20}$|\bn'$",
        r"|(?:\bn\xc3\xa3o|\bnao|\bno|\bnon|\xd0\xbd\xd0\xb5|\xd0\x9d\xd0\xb5",
        r"|\xd0\xbd\xd0\xb8\xd0\xba\xd0\xbe\xd0\xb3\xd0\xb4\xd0\xb0)[ \t]+(?:\S+[ \t]+){0,1}$",
        r"|(?:\xe4\xb8\x8d\xe8\xa6\x81|\xe5\x88\xab|\xe5\x8b\xbf|\xe5\x88\x87\xe5\x8b\xbf)$",
        r"|\b(?:nooit|nie|niemals|nigdy|jamais|nunca|mai)\b[^.]{0,30}$",
    ))
});

/// "Must not" in languages that say it at the end of the sentence; looked for anywhere in it.
static FORBIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    build_regex(
        "不得|禁止|严禁|嚴禁|不可以|不能|いけません|いけない|しないこと|しないでください|なりません|ならない|できません|안 됩|안됩|금지|마세요|마십시오|لا يجوز|يمنع| न हटा| न कर",
    )
});

/// Words before the match that report somebody else's order: "asked us to …", "attackers try to …", "phrases such as
/// …".
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    build_regex(concat!(
        r"(?:\b(?:asked|told|asks|tells|tell|wants|wanted|requested|begged|urged)[ \t]+",
        r"(?:us|me|him|her|them|support|ops|it|the[ \t]+[a-z]+|our[ \t]+[a-z]+)[ \t]+(?:to[ \t]+)?$)",
        r"|\b(?:asks?|asked|asking|tells?|told|telling)[ \t]+(?:you|agents?|it|models?|them|people|the[ \t]+[a-z]+)",
        r"[ \t]+(?:to[ \t]+)?$",
        r"|\b(?:try|tried|tries|trying|attempt|attempts|attempted|attempting)[ \t]+(?:to[ \t]+|at[ \t]+)",
        r"|\b(?:attack|attacks|attacker|attackers|injection|injections|injected|jailbreaks|detects|detected|detect",
        r"|blocks|blocked|flags|flagged|rejects|rejected|scanner|phrase|phrases|phrasing|red[ -]team|malicious",
        r"|adversarial|phishing|classifier|training|slides?|exercise|tabletop|workshop|drill|regex|pattern|payload",
        r"|payloads|strings? like|such as|e\.g\.|for example,? (?:notes|texts|messages)|policy forbids|forbids",
        r"|forbidden|prohibits|prohibited)\b",
        r"|\b(?:is|are|was|were)[ \t]+(?:not[ \t]+allowed|never[ \t]+allowed|prohibited)",
        r"|\bhow (?:attackers|people|users)\b",
    ))
});

/// Words that make quote marks a quotation. Quote marks alone are no excuse: an order can be put into them.
static QUOTATION_CUE: LazyLock<Regex> = LazyLock::new(|| {
    build_regex(concat!(
        r"\b(?:phrases?|contain(?:s|ed|ing)?|said|says?|saying|text|string|example|e\.g|block(?:s|ed)?",
        r"|detect(?:s|ed)?|scanner|rule|regex|pattern|tests?|such as|called|titled|wrote|asks|asked|message|email",
        r"|subject|quot(?:e|es|ed)|reported|attempt|attack|inject\w*|button|label|option|flag|checkbox|menu",
        r"|command|named)\b",
    ))
});

/// Prohibition before `without`: "shall not be used … without authorisation" and "never … without" require what they
/// name.
static REQUIREMENT: LazyLock<Regex> = LazyLock::new(|| {
    build_regex(concat!(
        r"\b(?:shall|may|must|should|can|will|do|does)\s+not\s+be\b",
        r"|\b(?:nobody|no one|cannot|can't|never|mustn't|must not|may not|shall not|should not|not allowed to",
        r"|jamais|nunca|niemals|nie|mai|nooit|nigdy)\b[^,;:]*$",
    ))
});

/// Whether the match contains `without` (or its counterpart) under a prohibition.
fn is_requirement(before: &str, found: &str) -> bool {
    let Some(cut) =
        ["without", "ohne", "sans", "sin ", "sem ", "senza", "zonder", "bez "].iter().find_map(|word| found.find(word))
    else {
        return false;
    };
    REQUIREMENT.is_match(before.as_bytes()) || REQUIREMENT.is_match(&found.as_bytes()[..cut])
}

fn is_negated(before: &str) -> bool {
    NEGATION.is_match(before.as_bytes())
}

/// Whether the text before the match reports somebody else's words.
pub(super) fn is_reported(before: &str) -> bool {
    REPORT.is_match(before.as_bytes())
}

/// Whether the match is inside quote marks: an odd number before it and one after it. A single quote counts only right
/// before the match, since it is an apostrophe elsewhere.
fn is_quoted(before: &str, after: &str) -> bool {
    ['"', '`'].iter().any(|&mark| before.matches(mark).count() % 2 == 1 && after.contains(mark))
        || before.ends_with('\'') && after.contains('\'')
}
