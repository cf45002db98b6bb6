//! How memories age: importance at save, decay, and the order in which they fade.

use jiff::Timestamp;

use crate::model::vocabulary::TtlClass;
use crate::text::words;

/// Share of importance kept for every week without a recall (seed 001).
pub const WEEKLY_DECAY: f64 = 0.95;
/// Decayed importance below which a memory is archived.
pub const ARCHIVE_BELOW: f64 = 0.1;
/// Decayed importance below which a memory goes first when its place is nearly full.
pub const EARLY_ARCHIVE_BELOW: f64 = 0.2;
/// Share of the quota from which a place counts as nearly full.
pub const NEARLY_FULL_SHARE: f64 = 0.9;
const WEEK_MICROS: f64 = 7.0 * 24.0 * 3600.0 * 1e6;

/// What a microsecond's delay of the last recall adds to a [`fade_key`]; `-ln 0.95` a week.
pub const FADE_PER_MICROSECOND: f64 = 0.051_293_294_387_550_53 / WEEK_MICROS;

/// Importance after the time since the last recall, or since creation where there was none.
pub fn decayed_importance(importance: f64, since: Timestamp, now: Timestamp) -> f64 {
    let weeks = (now.as_microsecond() - since.as_microsecond()).max(0) as f64 / WEEK_MICROS;
    importance * WEEKLY_DECAY.powf(weeks)
}

/// A number that sorts memories by decayed importance at any time, without knowing the time: lowest fades first.
///
/// `importance × 0.95^weeks` orders like `ln importance + ln(1/0.95) × weeks since the epoch of the last recall`.
pub fn fade_key(importance: f64, since: Timestamp) -> f64 {
    importance.max(1e-9).ln() + FADE_PER_MICROSECOND * since.as_microsecond() as f64
}

/// What a saved turn is worth and how long, judged by its words (seed 001). Documented in docs/guide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ImportanceEstimate {
    pub importance: f64,
    pub class: TtlClass,
}

const BASE_IMPORTANCE: f64 = 0.3;
const DECISION_BONUS: f64 = 0.3;
const AMOUNT_BONUS: f64 = 0.3;
const SMALL_TALK_IMPORTANCE: f64 = 0.15;
/// Importance of what somebody asked to have remembered.
pub const FULL_IMPORTANCE: f64 = 1.0;
/// Small talk is short; a long message that opens with thanks is not.
const SMALL_TALK_WORDS_MAX: usize = 8;

const REMEMBER_PHRASES: &[&str] = &["remember this", "remember that", "keep in mind"];
const DO_NOT_FORGET_PHRASES: &[&str] = &["don't forget", "do not forget", "never forget", "merk dir"];
/// Before "remember" these do not change who is meant.
const COURTESIES: &[&str] = &["please", "always", "also", "just", "bitte"];
/// After these a wish begins.
const JOINING_WORDS: &[&str] = &["and", "so", "but", "then"];
const ASKING_VERBS: &[&str] = &["can", "could", "will", "would", "must", "should"];
const URGING_VERBS: &[&str] = &["must", "should"];
/// "Remember when we met" tells of somebody's memory.
const REMINISCING_WORDS: &[&str] = &["when", "how", "what", "who", "where", "why", "me"];
const DECISIONS: &[&str] = &[
    "decided",
    "decision",
    "we will",
    "i will",
    "agreed",
    "chose",
    "choose",
    "deployed",
    "rolled back",
    "restarted",
    "scaled",
    "merged",
    "created",
    "deleted",
    "migrated",
    "switched",
    "upgraded",
    "fixed",
    "shipped",
    "assigned",
];
const APPROVALS: &[&str] = &["approve", "approved", "approval", "rejected", "invoice", "budget", "payment", "refund"];
const FAILURES: &[&str] = &["error", "failed", "failure", "exception", "crash", "timed out", "timeout", "panic"];
const COMPLETIONS: &[&str] = &["completed", "finished", "done with", "task complete", "closed the", "resolved"];
/// What is said to be polite, beside whom a name may stand, and what is said to agree, beside which it may not.
const PLEASANTRIES: &[&str] = &["thanks", "thank", "hi", "hello", "hey", "bye", "goodbye", "welcome"];
const AGREEMENTS: &[&str] = &["ok", "okay", "great", "sure", "yes", "yep", "no", "nope", "cool", "nice", "alright"];
/// Says nothing more beside those.
const FILLERS: &[&str] = &[
    "morning",
    "evening",
    "afternoon",
    "night",
    "day",
    "good",
    "fine",
    "well",
    "much",
    "help",
    "all",
    "everyone",
    "team",
    "work",
    "job",
    "done",
    "sounds",
    "looks",
    "problem",
    "worries",
    "got",
    "see",
    "later",
    "perfect",
    "again",
    "lot",
    "please",
    "really",
    "course",
    "thing",
    "one",
    "right",
    "now",
    "way",
    "appreciated",
    "talk",
    "soon",
    "there",
];

/// Judges a text. The caller's own word, where given, goes before this.
pub fn estimate_importance(text: &str) -> ImportanceEstimate {
    // Telephones write it curved.
    let lower = text.to_lowercase().replace('’', "'");
    let has = |list: &[&str]| list.iter().any(|phrase| contains_phrase(&lower, phrase));
    let mut wishes = REMEMBER_PHRASES.iter().chain(DO_NOT_FORGET_PHRASES);
    if is_remember_command(&lower)
        || wishes.any(|phrase| phrase_positions(&lower, phrase).any(|at| is_request(&lower, at)))
    {
        return ImportanceEstimate { importance: FULL_IMPORTANCE, class: TtlClass::Remember };
    }
    let (decision, amount) = (has(DECISIONS), has(APPROVALS) || mentions_amount(&lower));
    let (completion, failure) = (has(COMPLETIONS), has(FAILURES));
    if is_small_talk(&lower) && !(decision || amount || completion || failure) {
        return ImportanceEstimate { importance: SMALL_TALK_IMPORTANCE, class: TtlClass::Routine };
    }
    let importance =
        BASE_IMPORTANCE + if decision { DECISION_BONUS } else { 0.0 } + if amount { AMOUNT_BONUS } else { 0.0 };
    let class = match () {
        () if completion => TtlClass::TaskCompletion,
        () if decision || amount => TtlClass::Decision,
        () if failure => TtlClass::Error,
        () => TtlClass::Routine,
    };
    // Tenths add up to tenths.
    ImportanceEstimate { importance: ((importance * 10.0).round() / 10.0).clamp(0.0, FULL_IMPORTANCE), class }
}

/// A few polite words and nothing else.
fn is_small_talk(text: &str) -> bool {
    let words = words::folded_words(text);
    let is = |list: &[&str], word: &String| list.contains(&word.as_str());
    let polite = words.iter().any(|word| is(PLEASANTRIES, word));
    let agrees = words.iter().any(|word| is(AGREEMENTS, word));
    let says = |word: &&String| {
        !is(PLEASANTRIES, word) && !is(AGREEMENTS, word) && !is(FILLERS, word) && !words::is_stop_word(word)
    };
    let said = words.iter().filter(says).count();
    words.len() <= SMALL_TALK_WORDS_MAX && (polite || agrees) && said <= usize::from(polite && !agrees)
}

/// "Remember: ship on Friday", "can you remember my name is Bob": said to whoever listens.
fn is_remember_command(text: &str) -> bool {
    phrase_positions(text, "remember").any(|at| {
        let after = text[at + "remember".len()..].trim_start_matches([':', ',', ' ']);
        let next = after.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        let is_question = after.find(['.', '!', '?', '\n']).is_some_and(|end| after[end..].starts_with('?'));
        let begins = matches!(two_words_before(text, at), [None, _] | [Some("to"), _]);
        let tells = next.is_empty() || REMINISCING_WORDS.contains(&next) || begins && is_question;
        is_request(text, at) && !tells
    })
}

/// Whether what stands before a phrase makes it a wish, not a report: "I want you to remember this" is one, "they
/// still remember this" is none.
fn is_request(text: &str, at: usize) -> bool {
    match two_words_before(text, at) {
        [None, _] => true,
        [Some("to"), _] => sentence_before(text, at).split_whitespace().any(|word| matches!(word, "you" | "want")),
        [Some("you" | "we"), Some(asks)] => ASKING_VERBS.contains(&asks),
        [Some(urges), Some("you" | "we")] => URGING_VERBS.contains(&urges),
        [Some(word), None] => JOINING_WORDS.contains(&word) || URGING_VERBS.contains(&word),
        [Some(word), _] => JOINING_WORDS.contains(&word),
    }
}

/// The two words before a place in the same sentence, the nearest first, courtesies left out.
fn two_words_before(text: &str, at: usize) -> [Option<&str>; 2] {
    let mut words = sentence_before(text, at).split_whitespace().rev().filter(|word| !COURTESIES.contains(word));
    [words.next(), words.next()]
}

/// What stands before a place in the same sentence.
fn sentence_before(text: &str, at: usize) -> &str {
    text[..at].rsplit(['.', '!', '?', ':', ';', ',', '\n']).next().unwrap_or_default()
}

fn contains_phrase(text: &str, phrase: &str) -> bool {
    phrase_positions(text, phrase).next().is_some()
}

/// Where the phrase stands as words, not inside one.
fn phrase_positions<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !inside(before) && !inside(after)
    })
}

/// A currency sign or code beside digits.
fn mentions_amount(text: &str) -> bool {
    let digit_near = |at: usize, len: usize| {
        let after = text[at + len..].trim_start().chars().next();
        let before = text[..at].trim_end().chars().next_back();
        [after, before].into_iter().flatten().any(|c| c.is_ascii_digit())
    };
    ["$", "€", "£", "¥", "usd", "eur", "gbp", "dollars", "euros"]
        .iter()
        .any(|sign| text.match_indices(sign).any(|(at, sign)| digit_near(at, sign.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(week: f64) -> Timestamp {
        Timestamp::from_microsecond((week * WEEK_MICROS) as i64).expect("in range")
    }

    #[test]
    fn fact_17_half_importance_after_ten_weeks() {
        assert!((decayed_importance(0.5, at(0.0), at(10.0)) - 0.2994).abs() < 1e-4);
        assert!((decayed_importance(0.5, at(10.0), at(10.0)) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_fade_key_orders_like_decayed_importance() {
        let memories = [(0.9, 0.0), (0.5, 5.0), (0.31, 20.0), (0.3, 20.0), (0.05, 30.0)];
        for (a, week_a) in memories {
            for (b, week_b) in memories {
                let by_decay =
                    decayed_importance(a, at(week_a), at(40.0)) < decayed_importance(b, at(week_b), at(40.0));
                assert_eq!(by_decay, fade_key(a, at(week_a)) < fade_key(b, at(week_b)));
            }
        }
    }

    #[test]
    fn worth_of_what_people_say() {
        let check = |text: &str, importance: f64, class: TtlClass| {
            let worth = estimate_importance(text);
            assert!((worth.importance - importance).abs() < 1e-9 && worth.class == class, "{text}: {worth:?}");
        };
        check("Please remember this: the door code changes monthly", 1.0, TtlClass::Remember);
        check("Could you remember that I take the early train", 1.0, TtlClass::Remember);
        check("It is late. Remember that the door is locked", 1.0, TtlClass::Remember);
        check("do you remember this morning", 0.3, TtlClass::Routine);
        check("I do not remember this thing at all", 0.3, TtlClass::Routine);
        check("They can't remember that the lift was broken", 0.3, TtlClass::Routine);
        check("Please remember my name is Bob", 1.0, TtlClass::Remember);
        check("please remember: the code is 4711", 1.0, TtlClass::Remember);
        check("Remember: ship on Friday", 1.0, TtlClass::Remember);
        check("We should remember this", 1.0, TtlClass::Remember);
        for wish in [
            "Can you please remember that I am allergic to nuts",
            "Could you please remember this: the port is 5432",
            "Can you please remember my birthday is May 3",
            "I want you to remember this",
            "Don’t forget: the key is under the mat",
            "You must never forget this: lock the door",
            "Never forget that I am allergic",
            "Always remember to lock the door",
            "Bitte merk dir das Datum",
        ] {
            check(wish, 1.0, TtlClass::Remember);
        }
        for report in [
            "I don’t remember that at all",
            "He doesn't remember that",
            "She couldn't remember that name",
            "I still remember that day at the lake",
            "The kids remember that show",
            "Does anyone else remember this show?",
            "I'll keep in mind what you said",
            "I don't forget faces",
            "Ich merk dir das nicht an",
        ] {
            check(report, 0.3, TtlClass::Routine);
        }
        check("Remember when we met in Rome", 0.3, TtlClass::Routine);
        check("Remember the bug with the queue?", 0.3, TtlClass::Routine);
        check("You should not remember this", 0.3, TtlClass::Routine);
        check("Does anyone remember this bug?", 0.3, TtlClass::Routine);
        check("I will remember this trip forever", 0.6, TtlClass::Decision);
        for small in
            ["ok thanks!", "Hi Bob", "thank you so much", "great work everyone", "no", "yes please", "sounds great"]
        {
            check(small, 0.15, TtlClass::Routine);
        }
        for said in
            ["there is no backup of the ledger", "ok, the gateway moved to rack nine", "no backup", "sure of rain"]
        {
            check(said, 0.3, TtlClass::Routine);
        }
        check("Error: no such table: users", 0.3, TtlClass::Error);
        check("backup failed: no space left", 0.3, TtlClass::Error);
        check("task finished, no issues", 0.3, TtlClass::TaskCompletion);
        check("We decided to move to Postgres", 0.6, TtlClass::Decision);
        check("Approved the invoice of $400, we will pay on Monday", 0.9, TtlClass::Decision);
        check("The build failed with a linker message", 0.3, TtlClass::Error);
        check("The office is on the third floor", 0.3, TtlClass::Routine);
    }
}
