//! Questions to a person: what was asked, of whom, and until when an answer counts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::caller::Caller;
use crate::model::row::{RowKind, SideRecord};
use crate::vocabulary;

vocabulary! {
    /// What a yes allows.
    QuestionAction ("question") {
        /// Save a text as the person's own.
        Keep = "keep",
        Forget = "forget",
    }
}

vocabulary! {
    /// State of a question.
    QuestionState ("question state") {
        Asked = "asked",
        /// Answered with yes, and done.
        Used = "used",
        Declined = "declined",
    }
}

/// A question that the engine issued. It holds a digest of what is confirmed, never the text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Question {
    pub id: String,
    pub action: QuestionAction,
    pub state: QuestionState,
    /// Of everything the person was shown: all fields of a draft, or a memory and its version.
    pub digest: String,
    // The caller that was given the question. Only the same one, in the same session, can bring the answer.
    pub principal: String,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub conversation: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
    pub asked_at: Timestamp,
    pub expires_at: Timestamp,
}

impl SideRecord for Question {
    const KIND: RowKind = RowKind::Questions;
    fn row_id(&self) -> String {
        self.id.clone()
    }
    fn row_time(&self) -> Timestamp {
        self.asked_at
    }
    fn row_state(&self) -> String {
        self.state.to_string()
    }
    fn row_subject(&self) -> String {
        self.digest.clone()
    }
    fn row_parent(&self) -> String {
        self.principal.clone()
    }
}

impl Question {
    /// Whether the question was given to this caller, in this session.
    pub(crate) fn was_put_to(&self, caller: &Caller) -> bool {
        self.principal == caller.principal
            && self.user == caller.user
            && self.project == caller.project
            && self.conversation == caller.conversation
            && self.session == caller.session
    }

    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        self.state == QuestionState::Asked && now < self.expires_at
    }
}
