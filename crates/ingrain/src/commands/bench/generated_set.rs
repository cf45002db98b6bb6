//! Generated retrieval set of operational notes with known answers, identical on every machine.
//!
//! Half of the questions use the words of the note, half are paraphrases that a search by words alone cannot answer.

use std::collections::HashMap;

use engine::model::id::TenantId;
use serde_json::Value;

use super::corpus::{self, CAUSES, Incident, SYMPTOMS};
use super::retrieval::{Collection, Question, RecordedTurn, RetrievalSet};

/// Notes per question; few questions, because each is asked with every ranker.
const NOTES_PER_QUESTION: usize = 5;

/// Categories: questions in the words of the note, and paraphrases.
const SAME_WORDS: i64 = 1;
const OTHER_WORDS: i64 = 2;

/// Paraphrases of `SYMPTOMS`, in the same order.
const SYMPTOMS_PARAPHRASED: [&str; SYMPTOMS.len()] = [
    "keep restarting once the new release was out",
    "give bad gateway errors for a while",
    "get killed by the kernel for its RAM overnight",
    "have DNS trouble finding Postgres",
    "build up a backlog of unprocessed jobs",
    "show outdated amounts to customers",
    "hang on some calls until the client gave up",
    "reject traffic coming through the sidecar",
    "use up all storage with crash files",
    "end up without a primary when we switched over",
    "end people's sessions for no reason",
    "become twice as slow at peak traffic",
];
/// Paraphrases of `CAUSES`, in the same order.
const CAUSES_PARAPHRASED: [&str; CAUSES.len()] = [
    "settings pointed at a backend nobody runs",
    "health checks were too impatient for boot",
    "there were not enough database handles for all threads",
    "TLS was out of date behind the load balancer",
    "customers got each other's remembered answers on one domain",
    "a schema change blocked writes",
    "scaling looked at an unsuitable signal",
    "concurrent tasks shared one disk",
    "clients hammered us again and again, never waiting",
    "time was skewed on a machine",
    "an experiment was enabled for a single datacentre",
    "the container was compiled for ARM",
];

/// Generates the notes, and a question for every fifth one.
pub fn generate_set(notes: usize) -> RetrievalSet {
    let incidents: Vec<Incident> = (0..notes).map(Incident::from_number).collect();
    let answers = AnswerIndex::from_incidents(&incidents);
    let about = incidents.iter().step_by(NOTES_PER_QUESTION).enumerate();
    let queries = about.map(|(number, incident)| generate_question(number, incident, &answers)).collect();
    RetrievalSet {
        collections: vec![Collection {
            id: "operations".to_owned(),
            memories: (0..notes).map(generate_note).collect(),
            queries,
        }],
    }
}

fn generate_note(number: usize) -> RecordedTurn {
    let (_, draft) = corpus::generate_memory(TenantId(uuid::Uuid::nil()), number, corpus::CONVERSATIONS);
    // One session per note: they are not turns of one conversation, so neighbours must not count.
    RecordedTurn {
        id: number.to_string(),
        text: draft.content,
        session: Value::from(number),
        ..RecordedTurn::default()
    }
}

/// Alternates between symptom and cause, and between the words of the note and a paraphrase.
fn generate_question(number: usize, incident: &Incident, answers: &AnswerIndex) -> Question {
    let Incident { service, namespace, symptom, cause } = *incident;
    let (category, text, gold) = match number % 4 {
        0 => (
            SAME_WORDS,
            format!("what was it when {service} {} in {namespace}", incident.symptom()),
            answers.for_symptom(incident),
        ),
        1 => (
            OTHER_WORDS,
            format!("why did {service} in {namespace} {}", SYMPTOMS_PARAPHRASED[symptom]),
            answers.for_symptom(incident),
        ),
        2 => (SAME_WORDS, format!("what fixed {service} when {}", incident.cause()), answers.for_cause(incident)),
        _ => (
            OTHER_WORDS,
            format!("what did we do about {service} when {}", CAUSES_PARAPHRASED[cause]),
            answers.for_cause(incident),
        ),
    };
    Question { text, category, gold: gold.iter().map(usize::to_string).collect() }
}

/// All notes that answer a question, not only the one it was made from.
struct AnswerIndex {
    by_symptom: HashMap<(&'static str, &'static str, usize), Vec<usize>>,
    by_cause: HashMap<(&'static str, usize), Vec<usize>>,
}

impl AnswerIndex {
    fn from_incidents(incidents: &[Incident]) -> AnswerIndex {
        let mut answers = AnswerIndex { by_symptom: HashMap::new(), by_cause: HashMap::new() };
        for (number, incident) in incidents.iter().enumerate() {
            let Incident { service, namespace, symptom, cause } = *incident;
            answers.by_symptom.entry((service, namespace, symptom)).or_default().push(number);
            answers.by_cause.entry((service, cause)).or_default().push(number);
        }
        answers
    }

    fn for_symptom(&self, incident: &Incident) -> &[usize] {
        self.by_symptom.get(&(incident.service, incident.namespace, incident.symptom)).map_or(&[], Vec::as_slice)
    }

    fn for_cause(&self, incident: &Incident) -> &[usize] {
        self.by_cause.get(&(incident.service, incident.cause)).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn half_of_the_questions_are_paraphrases_and_all_have_answers() {
        let set = generate_set(400);
        let queries = &set.collections[0].queries;
        let paraphrased = queries.iter().filter(|question| question.category == OTHER_WORDS).count();
        assert_eq!((queries.len(), paraphrased), (80, 40));
        assert!(queries.iter().all(|question| !question.gold.is_empty()));
        let again = generate_set(400);
        assert!(queries.iter().zip(&again.collections[0].queries).all(|(one, other)| one.text == other.text));
    }

    #[test]
    fn a_paraphrase_shares_no_indexed_word_with_its_original() {
        let tables = [(SYMPTOMS, &SYMPTOMS_PARAPHRASED), (CAUSES, &CAUSES_PARAPHRASED)];
        let mut shared = Vec::new();
        for (said, other) in tables.iter().flat_map(|(said, others)| said.iter().zip(others.iter())) {
            let words = |text| {
                engine::text::words::index_fields(&engine::text::words::IndexedFields {
                    content: text,
                    ..Default::default()
                })
            };
            let (said_words, other_words) = (words(said), words(other));
            let terms = |words: &engine::text::words::IndexedWords| {
                words.terms.iter().map(|(term, _)| *term).collect::<HashSet<_>>()
            };
            if !terms(&said_words).is_disjoint(&terms(&other_words)) {
                shared.push((said, other));
            }
        }
        assert!(shared.is_empty(), "{shared:#?}");
    }
}
