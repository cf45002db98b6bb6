//! Ageing of episodes: importance estimated at save, its weekly decay, and the sort key of decayed importance.

use jiff::Timestamp;

use crate::model::vocabulary::TtlClass;
use crate::text::words;

/// Factor on importance for every week without a recall.
pub const WEEKLY_DECAY: f64 = 0.95;
/// Decayed importance below which upkeep archives an episode.
pub const ARCHIVE_BELOW: f64 = 0.1;
/// Decayed importance below which an episode is archived early, in a nearly full place.
pub const EARLY_ARCHIVE_BELOW: f64 = 0.2;
/// Share of the quota (`live_max`) from which a place counts as nearly full.
pub const NEARLY_FULL_SHARE: f64 = 0.9;
const WEEK_MICROS: f64 = 7.0 * 24.0 * 3600.0 * 1e6;

/// Growth of a [`fade_key`] per microsecond by which the last recall is later: `-ln 0.95` per week.
pub const FADE_PER_MICROSECOND: f64 = 0.051_293_294_387_550_53 / WEEK_MICROS;

/// Importance now. `since`: the last recall, or creation if there was none.
pub fn decayed_importance(importance: f64, since: Timestamp, now: Timestamp) -> f64 {
    let weeks = (now.as_microsecond() - since.as_microsecond()).max(0) as f64 / WEEK_MICROS;
    importance * WEEKLY_DECAY.powf(weeks)
}

/// Sort key that orders memories by decayed importance at any time; the lowest is archived first.
///
/// The key does not depend on the current time, so a database can index it. `importance × 0.95^(now - since)` sorts
/// like its logarithm, `ln importance + ln(1/0.95) × since - ln(1/0.95) × now` (times in weeks); the last term is the
/// same for all memories and left out.
pub fn fade_key(importance: f64, since: Timestamp) -> f64 {
    // ln 0 is minus infinity; the floor keeps the key a number that every database stores and sorts alike.
    importance.max(1e-9).ln() + FADE_PER_MICROSECOND * since.as_microsecond() as f64
}

/// Importance and TTL class of a turn, estimated from its words. Described in docs/guide/context.md.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ImportanceEstimate {
    pub importance: f64,
    pub class: TtlClass,
}

const BASE_IMPORTANCE: f64 = 0.3;
const DECISION_BONUS: f64 = 0.3;
const AMOUNT_BONUS: f64 = 0.3;
const SMALL_TALK_IMPORTANCE: f64 = 0.15;
/// Importance of a turn that asks to be remembered.
pub const FULL_IMPORTANCE: f64 = 1.0;
/// A longer message is not small talk, even if it opens with thanks.
const SMALL_TALK_WORDS_MAX: usize = 8;

// Word lists of the estimate: lower case, English and a few German phrases.

const REMEMBER_PHRASES: &[&str] = &["remember this", "remember that", "keep in mind"];
const DO_NOT_FORGET_PHRASES: &[&str] = &["don't forget", "do not forget", "never forget", "merk dir"];
/// Skipped before "remember": "please remember" is read as "remember".
const COURTESIES: &[&str] = &["please", "always", "also", "just", "bitte"];
/// Words after which a request may begin: "... and remember this".
const JOINING_WORDS: &[&str] = &["and", "so", "but", "then"];
const ASKING_VERBS: &[&str] = &["can", "could", "will", "would", "must", "should"];
const URGING_VERBS: &[&str] = &["must", "should"];
/// After "remember", these make it a reminiscence, not a request: "remember when we met".
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
/// Small talk that may include one further word, such as a name: "hi Bob".
const PLEASANTRIES: &[&str] = &["thanks", "thank", "hi", "hello", "hey", "bye", "goodbye", "welcome"];
/// Small talk that may not: "no backup" is information.
const AGREEMENTS: &[&str] = &["ok", "okay", "great", "sure", "yes", "yep", "no", "nope", "cool", "nice", "alright"];
/// Words without information next to pleasantries and agreements.
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

/// Estimates importance and TTL class. Values that the caller sets take precedence (see `gate`).
pub fn estimate_importance(text: &str) -> ImportanceEstimate {
    // Phone keyboards type the curved apostrophe.
    let lower = text.to_lowercase().replace('’', "'");
    let has = |list: &[&str]| list.iter().any(|phrase| contains_phrase(&lower, phrase));
    let mut requests = REMEMBER_PHRASES.iter().chain(DO_NOT_FORGET_PHRASES);
    if is_remember_command(&lower)
        || requests.any(|phrase| phrase_positions(&lower, phrase).any(|at| is_request(&lower, at)))
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
    // Rounded to tenths: 0.3 + 0.3 + 0.3 is not 0.9 in floating point, and the value is shown to people.
    ImportanceEstimate { importance: ((importance * 10.0).round() / 10.0).clamp(0.0, FULL_IMPORTANCE), class }
}

/// At most [`SMALL_TALK_WORDS_MAX`] words, with a pleasantry or an agreement and no information. One informative word
/// is allowed next to a pleasantry alone (a name), none next to an agreement.
fn is_small_talk(text: &str) -> bool {
    let words = words::folded_words(text);
    let is = |list: &[&str], word: &String| list.contains(&word.as_str());
    let polite = words.iter().any(|word| is(PLEASANTRIES, word));
    let agrees = words.iter().any(|word| is(AGREEMENTS, word));
    let informative = |word: &&String| {
        !is(PLEASANTRIES, word) && !is(AGREEMENTS, word) && !is(FILLERS, word) && !words::is_stop_word(word)
    };
    let informative_count = words.iter().filter(informative).count();
    words.len() <= SMALL_TALK_WORDS_MAX && (polite || agrees) && informative_count <= usize::from(polite && !agrees)
}

/// Whether "remember" alone is a request: "Remember: ship on Friday", "can you remember my name is Bob".
fn is_remember_command(text: &str) -> bool {
    phrase_positions(text, "remember").any(|at| {
        let after = text[at + "remember".len()..].trim_start_matches([':', ',', ' ']);
        let next = after.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        let is_question = after.find(['.', '!', '?', '\n']).is_some_and(|end| after[end..].starts_with('?'));
        let begins_sentence = matches!(two_words_before(text, at), [None, _] | [Some("to"), _]);
        // "Remember the bug?" asks whether it is remembered; "can you remember the bug?" asks to remember it.
        let reminisces = next.is_empty() || REMINISCING_WORDS.contains(&next) || begins_sentence && is_question;
        is_request(text, at) && !reminisces
    })
}

/// Whether the words before a phrase make it a request and not a statement: "I want you to remember this" is a request,
/// "they still remember this" is not.
fn is_request(text: &str, at: usize) -> bool {
    match two_words_before(text, at) {
        [None, _] => true,
        [Some("to"), _] => sentence_before(text, at).split_whitespace().any(|word| matches!(word, "you" | "want")),
        // "can you remember", then "you must remember".
        [Some("you" | "we"), Some(verb)] => ASKING_VERBS.contains(&verb),
        [Some(verb), Some("you" | "we")] => URGING_VERBS.contains(&verb),
        [Some(word), None] => JOINING_WORDS.contains(&word) || URGING_VERBS.contains(&word),
        [Some(word), _] => JOINING_WORDS.contains(&word),
    }
}

/// The two words before a position in the same sentence, nearest first, without courtesies.
fn two_words_before(text: &str, at: usize) -> [Option<&str>; 2] {
    let mut words = sentence_before(text, at).split_whitespace().rev().filter(|word| !COURTESIES.contains(word));
    [words.next(), words.next()]
}

/// The part of the sentence before a position.
fn sentence_before(text: &str, at: usize) -> &str {
    text[..at].rsplit(['.', '!', '?', ':', ';', ',', '\n']).next().unwrap_or_default()
}

fn contains_phrase(text: &str, phrase: &str) -> bool {
    phrase_positions(text, phrase).next().is_some()
}

/// Positions of a phrase as whole words.
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
    fn importance_and_class_of_sample_turns() {
        let check = |text: &str, importance: f64, class: TtlClass| {
            let estimate = estimate_importance(text);
            assert!((estimate.importance - importance).abs() < 1e-9 && estimate.class == class, "{text}: {estimate:?}");
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
        for request in [
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
            check(request, 1.0, TtlClass::Remember);
        }
        for statement in [
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
            check(statement, 0.3, TtlClass::Routine);
        }
        check("Remember when we met in Rome", 0.3, TtlClass::Routine);
        check("Remember the bug with the queue?", 0.3, TtlClass::Routine);
        check("You should not remember this", 0.3, TtlClass::Routine);
        check("Does anyone remember this bug?", 0.3, TtlClass::Routine);
        check("I will remember this trip forever", 0.6, TtlClass::Decision);
        for small_talk in
            ["ok thanks!", "Hi Bob", "thank you so much", "great work everyone", "no", "yes please", "sounds great"]
        {
            check(small_talk, 0.15, TtlClass::Routine);
        }
        for informative in
            ["there is no backup of the ledger", "ok, the gateway moved to rack nine", "no backup", "sure of rain"]
        {
            check(informative, 0.3, TtlClass::Routine);
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
