//! One client's door: who it is, what it is offered, and how a call gets to the engine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::model::caller::Caller;
use engine::{Engine, MemoryReference};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ErrorData, ProgressNotificationParam};
use rmcp::service::RequestContext;
use tokio::sync::{Mutex, MutexGuard, watch};

use super::caller::{self, CallerSource};
use super::tool::ToolCall;
use super::tool_selection::{self, Toolset, WriteTools};
use super::{elicitation, tool, tool_answer};
use crate::telemetry;

/// A save that took longer waited for somebody: far beyond what a disk takes.
const SLOW_SAVE_THRESHOLD: Duration = Duration::from_millis(50);
/// Characters of a memory shown to a person who is asked about it.
const QUESTION_CHARS_MAX: usize = 200;

/// How an MCP door is set up: at start, by the operator. A model can neither see nor change it.
#[derive(Clone, Debug)]
pub struct DoorSetup {
    pub toolsets: Vec<Toolset>,
    pub write_tools: WriteTools,
}

impl Default for DoorSetup {
    fn default() -> Self {
        DoorSetup { toolsets: vec![Toolset::Core], write_tools: WriteTools::Always }
    }
}

/// One client's door.
#[derive(Clone)]
pub struct Door {
    pub(super) engine: Engine,
    pub(super) caller: Arc<Caller>,
    pub(super) caller_source: CallerSource,
    pub(super) setup: Arc<DoorSetup>,
    /// With write tools on demand: whether `load_toolset` asked for them.
    pub(super) writes_loaded: Arc<AtomicBool>,
    /// Counts the changes of what is offered, for those who listen.
    pub(super) tool_changes: watch::Sender<u64>,
    /// Whose turn it is, where calls are done in the order they came.
    pub(super) order_lock: Option<Arc<Mutex<()>>>,
    /// Where calls are done as they are asked for: whether the last save was held up.
    pub(super) inline_calls: Option<Arc<AtomicBool>>,
}

impl Door {
    pub fn new(engine: Engine, caller: Caller, setup: DoorSetup) -> Door {
        let writes_loaded = Arc::new(AtomicBool::new(setup.write_tools == WriteTools::Always));
        let (caller_source, tool_changes) = (CallerSource::Fixed, watch::Sender::new(0));
        let (caller, setup) = (Arc::new(caller), Arc::new(setup));
        Door { engine, caller, caller_source, setup, writes_loaded, tool_changes, order_lock: None, inline_calls: None }
    }

    /// The agent goes by the name its client gives: nobody chose another at start.
    pub fn with_client_name(self) -> Door {
        Door { caller_source: CallerSource::ClientName, ..self }
    }

    /// Calls are done one after the other, as they came: for a door with one client.
    pub fn with_ordered_calls(self) -> Door {
        Door { order_lock: Some(Arc::default()), ..self }
    }

    /// Calls are done where they are asked for. For a door with one client on a database of this machine: there a call
    /// takes not much longer than the way to another thread and back. A save may have to wait for another process; the
    /// ones after it are done on another thread, until one is quick again, so that pings are answered meanwhile.
    pub fn with_inline_calls(self) -> Door {
        Door { inline_calls: Some(Arc::default()), ..self }
    }

    pub(super) fn offered_tools(&self) -> Vec<&'static tool::ToolSpec> {
        tool_selection::select_tools(
            &self.engine,
            &self.caller,
            &self.setup,
            self.writes_loaded.load(Ordering::Relaxed),
        )
    }

    /// Runs engine work as this request's caller, off the async threads: the engine is synchronous on purpose.
    pub(super) async fn run_blocking<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Door) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let door = caller::door_for_request(self, context)?;
        tokio::task::spawn_blocking(move || work(&door)).await.map_err(|_| call_aborted())
    }

    /// What a call comes to, as far as no person has to be asked.
    pub(super) async fn start_call(
        &self,
        context: &RequestContext<RoleServer>,
        request: CallToolRequestParams,
    ) -> Result<CallStep, ErrorData> {
        let _turn = self.lock_order().await;
        let Some(held_up) = &self.inline_calls else {
            return self.run_blocking(context, move |door| door.answer_call(request)).await;
        };
        let door = caller::door_for_request(self, context)?;
        let (began, spec) = (Instant::now(), door.find_tool(&request.name));
        let step = match spec.filter(|spec| can_run_inline(spec, &request, held_up)) {
            Some(spec) => door.run_inline(spec, request),
            None => self.run_blocking(context, move |door| door.answer_call(request)).await,
        };
        // Only a save tells of others who write.
        if spec.is_some_and(|spec| spec.effect != tool::ToolEffect::Read) {
            held_up.store(began.elapsed() > SLOW_SAVE_THRESHOLD, Ordering::Relaxed);
        }
        step
    }

    /// On this thread. A panic breaks off this call alone, as it does on another one.
    fn run_inline(&self, spec: &tool::ToolSpec, request: CallToolRequestParams) -> Result<CallStep, ErrorData> {
        let done = catch_unwind(AssertUnwindSafe(|| self.run_tool(spec, request, elicitation::Confirmation::NotAsked)));
        done.map(CallStep::Done).map_err(|_| call_aborted())
    }

    pub(super) async fn lock_order(&self) -> Option<MutexGuard<'_, ()>> {
        match &self.order_lock {
            Some(turn) => Some(turn.lock().await),
            None => None,
        }
    }
}

/// Whether a call can be done on the thread that hears the client.
fn can_run_inline(spec: &tool::ToolSpec, request: &CallToolRequestParams, held_up: &AtomicBool) -> bool {
    match spec.effect {
        tool::ToolEffect::Read => true,
        tool::ToolEffect::Write | tool::ToolEffect::Files => {
            spec.confirmation_question(request.arguments.as_ref()).is_none() && !held_up.load(Ordering::Relaxed)
        }
        tool::ToolEffect::Delete => false,
    }
}

fn call_aborted() -> ErrorData {
    ErrorData::internal_error("the call broke off", None)
}

impl Door {
    /// Says that the tools are others now: to those who listen, and to a client of the older era at once.
    pub(super) async fn notify_tools_changed(&self, context: &RequestContext<RoleServer>) {
        self.tool_changes.send_modify(|count| *count += 1);
        if !caller::is_stateless(context) {
            // A client that is gone needs no notice.
            let _ = context.peer.notify_tool_list_changed().await;
        }
    }

    /// Tells whoever asked for it how far a call is: a verb is one step.
    pub(super) async fn report_progress(&self, context: &RequestContext<RoleServer>, done: f64) {
        if let Some(token) = context.meta.get_progress_token() {
            // A client that is gone needs no notice.
            let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, done).with_total(1.0)).await;
        }
    }

    fn find_tool(&self, name: &str) -> Option<&'static tool::ToolSpec> {
        self.offered_tools().into_iter().find(|spec| spec.name == name)
    }

    fn answer_call(&self, request: CallToolRequestParams) -> CallStep {
        let Some(spec) = self.find_tool(&request.name) else {
            return CallStep::NotOffered(request.name.into_owned());
        };
        match spec
            .confirmation_question(request.arguments.as_ref())
            .map(|question| self.question_with_memory(spec, &request, question))
        {
            Some(question) => CallStep::AskPerson(spec, Box::new(request), question),
            None => CallStep::Done(self.run_tool(spec, request, elicitation::Confirmation::NotAsked)),
        }
    }

    /// The question with what it is about, where that is one memory.
    fn question_with_memory(&self, spec: &tool::ToolSpec, request: &CallToolRequestParams, question: String) -> String {
        let words =
            request.arguments.iter().flat_map(|arguments| arguments.values()).filter_map(|value| value.as_str());
        let id = words.filter(|_| spec.effect == tool::ToolEffect::Delete).find_map(|word| word.parse().ok());
        match id.and_then(|id| self.engine.locate(&self.caller, &MemoryReference::Id(id)).ok()) {
            Some(memory) => {
                let about: String = memory.summary_line().chars().take(QUESTION_CHARS_MAX).collect();
                format!("{question}\n\n{about}")
            }
            None => question,
        }
    }

    pub(super) fn run_tool(
        &self,
        spec: &tool::ToolSpec,
        request: CallToolRequestParams,
        said: elicitation::Confirmation,
    ) -> tool_answer::ToolAnswer {
        let call = ToolCall { engine: &self.engine, caller: &self.caller, confirmation: said };
        telemetry::tool_span(spec.name).in_scope(|| (spec.run)(&call, request.arguments.unwrap_or_default()))
    }
}

/// How far a call got in one go.
pub(super) enum CallStep {
    Done(tool_answer::ToolAnswer),
    /// A person has to be asked this first.
    AskPerson(&'static tool::ToolSpec, Box<CallToolRequestParams>, String),
    NotOffered(String),
}
