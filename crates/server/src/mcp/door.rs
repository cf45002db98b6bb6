//! One client's door: who it is, what it is offered, and how a call gets to the engine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::model::caller::Caller;
use engine::{Engine, Reference};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ErrorData, ProgressNotificationParam};
use rmcp::service::RequestContext;
use tokio::sync::{Mutex, MutexGuard, watch};

use super::caller::{self, Origin};
use super::offer::{self, Toolset, WriteTools};
use super::tool::Call;
use super::{answer, person, tool};
use crate::telemetry;

/// A save that took longer waited for somebody: far beyond what a disk takes.
const HELD_UP: Duration = Duration::from_millis(50);
/// Characters of a memory shown to a person who is asked about it.
const QUESTION_CHARS_MAX: usize = 200;

/// How an MCP door is set up: at start, by the operator. A model can neither see nor change it.
#[derive(Clone, Debug)]
pub struct Setup {
    pub toolsets: Vec<Toolset>,
    pub write_tools: WriteTools,
}

impl Default for Setup {
    fn default() -> Self {
        Setup { toolsets: vec![Toolset::Core], write_tools: WriteTools::Always }
    }
}

/// One client's door.
#[derive(Clone)]
pub struct Door {
    pub(super) engine: Engine,
    pub(super) caller: Arc<Caller>,
    pub(super) origin: Origin,
    pub(super) setup: Arc<Setup>,
    /// With write tools on demand: whether `load_toolset` asked for them.
    pub(super) writes_loaded: Arc<AtomicBool>,
    /// Counts the changes of what is offered, for those who listen.
    pub(super) changes: watch::Sender<u64>,
    /// Whose turn it is, where calls are done in the order they came.
    pub(super) turn: Option<Arc<Mutex<()>>>,
    /// Where calls are done as they are asked for: whether the last save was held up.
    pub(super) at_once: Option<Arc<AtomicBool>>,
}

impl Door {
    pub fn new(engine: Engine, caller: Caller, setup: Setup) -> Door {
        let writes_loaded = Arc::new(AtomicBool::new(setup.write_tools == WriteTools::Always));
        let (origin, changes) = (Origin::Start, watch::Sender::new(0));
        let (caller, setup) = (Arc::new(caller), Arc::new(setup));
        Door { engine, caller, origin, setup, writes_loaded, changes, turn: None, at_once: None }
    }

    /// The agent goes by the name its client gives: nobody chose another at start.
    pub fn named_by_client(self) -> Door {
        Door { origin: Origin::Client, ..self }
    }

    /// Calls are done one after the other, as they came: for a door with one client.
    pub fn in_order(self) -> Door {
        Door { turn: Some(Arc::default()), ..self }
    }

    /// Calls are done where they are asked for. For a door with one client on a database of this machine: there a call
    /// takes not much longer than the way to another thread and back. A save may have to wait for another process; the
    /// ones after it are done on another thread, until one is quick again, so that pings are answered meanwhile.
    pub fn at_once(self) -> Door {
        Door { at_once: Some(Arc::default()), ..self }
    }

    pub(super) fn tools(&self) -> Vec<&'static tool::Spec> {
        offer::offered(&self.engine, &self.caller, &self.setup, self.writes_loaded.load(Ordering::Relaxed))
    }

    /// Runs engine work as this request's caller, off the async threads: the engine is synchronous on purpose.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Door) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let door = caller::seen(self, context)?;
        tokio::task::spawn_blocking(move || work(&door)).await.map_err(|_| broken_off())
    }

    /// What a call comes to, as far as no person has to be asked.
    pub(super) async fn step(
        &self,
        context: &RequestContext<RoleServer>,
        request: CallToolRequestParams,
    ) -> Result<Step, ErrorData> {
        let _turn = self.turn().await;
        let Some(held_up) = &self.at_once else {
            return self.blocking(context, move |door| door.answer(request)).await;
        };
        let door = caller::seen(self, context)?;
        let (began, spec) = (Instant::now(), door.offered(&request.name));
        let step = match spec.filter(|spec| is_quick(spec, &request, held_up)) {
            Some(spec) => door.here(spec, request),
            None => self.blocking(context, move |door| door.answer(request)).await,
        };
        // Only a save tells of others who write.
        if spec.is_some_and(|spec| spec.effect != tool::Effect::Read) {
            held_up.store(began.elapsed() > HELD_UP, Ordering::Relaxed);
        }
        step
    }

    /// On this thread. A panic breaks off this call alone, as it does on another one.
    fn here(&self, spec: &tool::Spec, request: CallToolRequestParams) -> Result<Step, ErrorData> {
        let done = catch_unwind(AssertUnwindSafe(|| self.run(spec, request, person::Said::NotAsked)));
        done.map(Step::Done).map_err(|_| broken_off())
    }

    pub(super) async fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        match &self.turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        }
    }
}

/// Whether a call can be done on the thread that hears the client.
fn is_quick(spec: &tool::Spec, request: &CallToolRequestParams, held_up: &AtomicBool) -> bool {
    match spec.effect {
        tool::Effect::Read => true,
        tool::Effect::Write | tool::Effect::Files => {
            spec.question(request.arguments.as_ref()).is_none() && !held_up.load(Ordering::Relaxed)
        }
        tool::Effect::Delete => false,
    }
}

fn broken_off() -> ErrorData {
    ErrorData::internal_error("the call broke off", None)
}

impl Door {
    /// Says that the tools are others now: to those who listen, and to a client of the older era at once.
    pub(super) async fn changed(&self, context: &RequestContext<RoleServer>) {
        self.changes.send_modify(|count| *count += 1);
        if !caller::is_stateless(context) {
            // A client that is gone needs no notice.
            let _ = context.peer.notify_tool_list_changed().await;
        }
    }

    /// Tells whoever asked for it how far a call is: a verb is one step.
    pub(super) async fn progress(&self, context: &RequestContext<RoleServer>, done: f64) {
        if let Some(token) = context.meta.get_progress_token() {
            // A client that is gone needs no notice.
            let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, done).with_total(1.0)).await;
        }
    }

    fn offered(&self, name: &str) -> Option<&'static tool::Spec> {
        self.tools().into_iter().find(|spec| spec.name == name)
    }

    fn answer(&self, request: CallToolRequestParams) -> Step {
        let Some(spec) = self.offered(&request.name) else {
            return Step::NotOffered(request.name.into_owned());
        };
        match spec.question(request.arguments.as_ref()).map(|question| self.told(spec, &request, question)) {
            Some(question) => Step::Ask(spec, Box::new(request), question),
            None => Step::Done(self.run(spec, request, person::Said::NotAsked)),
        }
    }

    /// The question with what it is about, where that is one memory.
    fn told(&self, spec: &tool::Spec, request: &CallToolRequestParams, question: String) -> String {
        let words =
            request.arguments.iter().flat_map(|arguments| arguments.values()).filter_map(|value| value.as_str());
        let id = words.filter(|_| spec.effect == tool::Effect::Delete).find_map(|word| word.parse().ok());
        match id.and_then(|id| self.engine.locate(&self.caller, &Reference::Id(id)).ok()) {
            Some(memory) => {
                let about: String = memory.summary().chars().take(QUESTION_CHARS_MAX).collect();
                format!("{question}\n\n{about}")
            }
            None => question,
        }
    }

    pub(super) fn run(&self, spec: &tool::Spec, request: CallToolRequestParams, said: person::Said) -> answer::Answer {
        let call = Call { engine: &self.engine, caller: &self.caller, said };
        telemetry::tool(spec.name).in_scope(|| (spec.run)(&call, request.arguments.unwrap_or_default()))
    }
}

/// How far a call got in one go.
pub(super) enum Step {
    Done(answer::Answer),
    /// A person has to be asked this first.
    Ask(&'static tool::Spec, Box<CallToolRequestParams>, String),
    NotOffered(String),
}
