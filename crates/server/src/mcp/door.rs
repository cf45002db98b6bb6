//! The MCP handler of one client: its caller, the tools it is offered, and how a call enters the engine.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use engine::model::caller::Caller;
use engine::{AskedQuestion, Engine};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ErrorCode, ErrorData, ProgressNotificationParam};
use rmcp::service::RequestContext;
use serde_json::json;
use tokio::sync::{Mutex, MutexGuard, watch};

use super::caller::{self, CallerSource};
use super::client_project::{ClientProject, ProjectFinder};
use super::elicitation::{self, Reply};
use super::tool::{CallOrigin, ToolCall};
use super::tool_selection::{self, Toolset, WriteTools};
use super::{tool, tool_answer};
use crate::config::HttpLimits;
use crate::entrance::{Entrance, Pool};
use crate::lock::lock_unpoisoned;
use crate::problem::Problem;
use crate::telemetry;

/// A save that takes longer has waited for another process: far above the time of a disk write.
const SLOW_SAVE_THRESHOLD: Duration = Duration::from_millis(50);
/// Verb in the metrics for calls to unknown tools. The client's own word would make unbounded labels.
const UNKNOWN_TOOL_VERB: &str = "mcp_unknown_tool";
/// JSON-RPC code of a request that the entrance refused; -32000 to -32099 is the range for servers.
const ENTRANCE_REFUSAL: ErrorCode = ErrorCode(-32_000);

/// Set-up of an MCP door, chosen by the operator at start. A model can neither see nor change it.
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

/// Most callers whose loaded tools are remembered without a session. Beyond it all are forgotten and load again.
const LOADED_CALLERS_MAX: usize = 10_000;

/// Callers without a session that have loaded the write tools: tenant, principal and conversation.
#[derive(Clone, Default)]
pub(super) struct LoadedWrites(Arc<std::sync::Mutex<HashMap<String, Arc<AtomicBool>>>>);

impl LoadedWrites {
    /// The flag of this caller.
    pub(super) fn flag_of(&self, caller: &Caller) -> Arc<AtomicBool> {
        let conversation = caller.conversation.as_deref().unwrap_or_default();
        let name = format!("{}\n{}\n{conversation}", caller.tenant, caller.principal);
        let mut flags = lock_unpoisoned(&self.0);
        if flags.len() >= LOADED_CALLERS_MAX && !flags.contains_key(&name) {
            flags.clear();
        }
        flags.entry(name).or_default().clone()
    }
}

/// The handler of one client. Cheap to clone.
#[derive(Clone)]
pub struct Door {
    pub(super) entrance: Entrance,
    pub(super) caller: Arc<Caller>,
    pub(super) caller_source: CallerSource,
    pub(super) setup: Arc<DoorSetup>,
    /// With write tools on demand: whether `load_toolset` has loaded them.
    pub(super) writes_loaded: Arc<AtomicBool>,
    /// The same for the stateless protocol over HTTP, where every request has a door of its own.
    pub(super) stateless_loads: LoadedWrites,
    /// Counts changes of the tool list, for subscribed clients.
    pub(super) tool_changes: watch::Sender<u64>,
    /// Held during a call, if calls run in the order they came.
    pub(super) order_lock: Option<Arc<Mutex<()>>>,
    /// Set if calls may run inline; the flag says whether the last save was slow.
    pub(super) inline_calls: Option<Arc<AtomicBool>>,
    /// Set if the project comes from the folders that the client names.
    pub(super) client_project: Option<ClientProject>,
}

impl Door {
    /// A door with an entrance of its own, bounded by the default limits.
    pub fn new(engine: Engine, caller: Caller, setup: DoorSetup) -> Door {
        let entrance = Entrance::new(engine, Arc::default(), &HttpLimits::default());
        Door::with_entrance(entrance, caller, setup)
    }

    pub(super) fn with_entrance(entrance: Entrance, caller: Caller, setup: DoorSetup) -> Door {
        let (writes_loaded, stateless_loads) = (Arc::default(), LoadedWrites::default());
        let (caller_source, tool_changes) = (CallerSource::Fixed, watch::Sender::new(0));
        let (caller, setup) = (Arc::new(caller), Arc::new(setup));
        let (order_lock, inline_calls) = (None, None);
        Door {
            entrance,
            caller,
            caller_source,
            setup,
            writes_loaded,
            stateless_loads,
            tool_changes,
            order_lock,
            inline_calls,
            client_project: None,
        }
    }

    /// Bounds this door by configured limits, with an entrance of its own.
    pub fn with_limits(self, limits: &HttpLimits) -> Door {
        Door { entrance: Entrance::new(self.entrance.engine().clone(), Arc::default(), limits), ..self }
    }

    /// Names the agent after its client: no name was chosen at start.
    pub fn with_client_name(self) -> Door {
        Door { caller_source: CallerSource::ClientName, ..self }
    }

    /// Works in the project of the folder that the client names, if it names one.
    pub fn with_project_finder(self, find: ProjectFinder) -> Door {
        Door { client_project: Some(ClientProject::new(find)), ..self }
    }

    /// Runs tool calls one at a time, in the order they came. For a door with one client.
    pub fn with_ordered_calls(self) -> Door {
        Door { order_lock: Some(Arc::default()), ..self }
    }

    /// Runs calls on the thread that reads the client's messages. For one client and a local database: there a call
    /// takes little longer than the switch to another thread and back. After a slow save, saves run on a blocking
    /// thread until one is fast again, so that pings are answered while another process holds the database.
    pub fn with_inline_calls(self) -> Door {
        Door { inline_calls: Some(Arc::default()), ..self }
    }

    pub(super) fn offered_tools(&self, engine: &Engine) -> Vec<&'static tool::ToolSpec> {
        let loaded = self.setup.write_tools == WriteTools::Always || self.writes_loaded.load(Ordering::Relaxed);
        tool_selection::select_tools(engine, &self.caller, &self.setup, loaded)
    }

    /// Runs engine work as this request's caller, through the entrance. The outer error is the request's own; the inner
    /// one is the entrance's.
    pub(super) async fn run_blocking<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        verb: &'static str,
        pool: Pool,
        work: impl FnOnce(&Door, &Engine) -> T + Send + 'static,
    ) -> Result<Result<T, Problem>, ErrorData> {
        let door = self.for_request(context).await?;
        Ok(self
            .entrance
            .call_within_timeout(verb, pool, move |engine| Ok(work(&door.with_resolved_project(engine), engine)))
            .await)
    }

    /// As [`Door::run_blocking`], for requests that are no tool calls: a refusal of the entrance is a JSON-RPC error.
    pub(super) async fn run_query<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        verb: &'static str,
        work: impl FnOnce(&Door, &Engine) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let answer = self.run_blocking(context, verb, Pool::Calls, work).await?;
        answer.map_err(|problem| to_protocol_error(&problem))
    }

    /// Runs a tool call up to its answer, or up to the question for a person.
    pub(super) async fn start_call(
        &self,
        context: &RequestContext<RoleServer>,
        request: CallToolRequestParams,
    ) -> Result<CallStep, ErrorData> {
        let _order = self.lock_order().await;
        // Among all tools, only to choose the pool. Whether it is offered depends on the caller and is decided later.
        let spec = tool_selection::find_tool(&request.name);
        let (verb, pool) = spec.map_or((UNKNOWN_TOOL_VERB, Pool::Calls), |spec| (spec.name, spec.effect.pool()));
        let inline =
            self.inline_calls.as_ref().filter(|slow_save| spec.is_some_and(|spec| can_run_inline(spec, slow_save)));
        let reply = elicitation::reply_in_call(context, &request);
        let origin = caller::call_origin(context);
        let work = move |door: &Door, engine: &Engine| door.answer_call(engine, request, reply, &origin);
        let started = Instant::now();
        let step = match inline {
            Some(_) => {
                let door = self.for_request(context).await?;
                match self
                    .entrance
                    .try_call_inline(verb, pool, move |engine| work(&door.with_resolved_project(engine), engine))
                {
                    Ok(step) => step,
                    // No permit is free: this call waits in the queue like any other.
                    Err(work) => self.entrance.call_within_timeout(verb, pool, move |engine| Ok(work(engine))).await,
                }
            }
            None => self.run_blocking(context, verb, pool, work).await?,
        };
        // Only a save shows whether another process writes.
        if let (Some(slow_save), Pool::Saves) = (&self.inline_calls, pool) {
            slow_save.store(started.elapsed() > SLOW_SAVE_THRESHOLD, Ordering::Relaxed);
        }
        step.or_else(|problem| refuse_call(&problem).map(|refusal| CallStep::Done(Err(refusal))))
    }

    /// The door with the caller and the set-up of this request.
    pub(super) async fn for_request(&self, context: &RequestContext<RoleServer>) -> Result<Door, ErrorData> {
        let door = caller::door_for_request(self, context)?;
        let Some(client_project) = &self.client_project else { return Ok(door) };
        let caller = client_project.add_to(&door.caller, door.entrance.engine(), context).await;
        Ok(Door { caller, ..door })
    }

    /// The door with the names of a project that the client's folder gave. Reads the database, so it may only be called
    /// where a call may block.
    pub(super) fn with_resolved_project(self, engine: &Engine) -> Door {
        if self.client_project.is_none() {
            return self;
        }
        // A database that fails here fails the call as well, with an error of its own.
        match engine.resolve_project(Caller::clone(&self.caller)) {
            Ok(caller) => Door { caller: Arc::new(caller), ..self },
            Err(_) => self,
        }
    }

    pub(super) async fn lock_order(&self) -> Option<MutexGuard<'_, ()>> {
        match &self.order_lock {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }
}

/// Whether a call can run on the thread that reads the client's messages.
fn can_run_inline(spec: &tool::ToolSpec, slow_save: &AtomicBool) -> bool {
    match spec.effect {
        tool::ToolEffect::Read => true,
        tool::ToolEffect::Write | tool::ToolEffect::Files => !slow_save.load(Ordering::Relaxed),
        tool::ToolEffect::Delete => false,
    }
}

/// The tool answer for a call that the entrance refused or gave up on; an error for one that panicked.
pub(super) fn refuse_call(problem: &Problem) -> Result<tool_answer::ToolProblem, ErrorData> {
    match is_entrance_refusal(problem) {
        true => Ok(problem.into()),
        false => Err(call_aborted()),
    }
}

/// As [`refuse_call`], for requests that are not tool calls: a JSON-RPC error.
fn to_protocol_error(problem: &Problem) -> ErrorData {
    match is_entrance_refusal(problem) {
        true => {
            let data = json!({ "code": problem.code, "retry_after_secs": problem.retry_after_secs() });
            ErrorData::new(ENTRANCE_REFUSAL, problem.detail().to_owned(), Some(data))
        }
        false => call_aborted(),
    }
}

fn is_entrance_refusal(problem: &Problem) -> bool {
    matches!(problem.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT)
}

fn call_aborted() -> ErrorData {
    ErrorData::internal_error("the call broke off", None)
}

impl Door {
    /// Announces a changed tool list: to subscriptions, and to a client with a session directly.
    pub(super) async fn notify_tools_changed(&self, context: &RequestContext<RoleServer>) {
        self.tool_changes.send_modify(|count| *count += 1);
        // In the stateless protocol notifications go to subscriptions only.
        if !caller::is_stateless(context) {
            // A client that has disconnected needs no notification.
            let _ = context.peer.notify_tool_list_changed().await;
        }
    }

    /// Sends progress if the client asked for it. A call is one step: 0.0 at its start, 1.0 at its end.
    pub(super) async fn report_progress(&self, context: &RequestContext<RoleServer>, done: f64) {
        if let Some(token) = context.meta.get_progress_token() {
            // A client that has disconnected needs no notification.
            let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, done).with_total(1.0)).await;
        }
    }

    fn answer_call(
        &self,
        engine: &Engine,
        request: CallToolRequestParams,
        reply: Reply,
        origin: &CallOrigin,
    ) -> CallStep {
        // Checked at the call too: a client may call a tool that it was never shown.
        let Some(spec) = self.offered_tools(engine).into_iter().find(|spec| spec.name == request.name) else {
            return CallStep::NotOffered(request.name.into_owned());
        };
        match self.run_tool(engine, spec, request.clone(), reply, origin) {
            Err(mut problem) => match problem.take_question() {
                Some(question) => CallStep::AskPerson(spec, Box::new(request), question),
                None => CallStep::Done(Err(problem)),
            },
            answer => CallStep::Done(answer),
        }
    }

    pub(super) fn run_tool(
        &self,
        engine: &Engine,
        spec: &tool::ToolSpec,
        request: CallToolRequestParams,
        reply: Reply,
        origin: &CallOrigin,
    ) -> tool_answer::ToolAnswer {
        let call = ToolCall { engine, caller: &self.caller, reply, origin };
        telemetry::tool_span(spec.name).in_scope(|| (spec.run)(&call, request.arguments.unwrap_or_default()))
    }
}

/// How far a call got without a person.
pub(super) enum CallStep {
    Done(tool_answer::ToolAnswer),
    /// A person has to confirm first.
    AskPerson(&'static tool::ToolSpec, Box<CallToolRequestParams>, AskedQuestion),
    NotOffered(String),
}
