//! Connections: how they are made, shared and made again, and transactions that travel in one message.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use engine::model::id::TenantId;
use engine::ports::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::Options;
use super::fault::Fault;
use super::rows::Step;
use super::url::Url;

/// First wait before another attempt to connect; it doubles.
const BACK_OFF_FIRST: Duration = Duration::from_millis(20);
/// The longest wait between attempts, so that a server that is back is found at once.
const BACK_OFF_MAX: Duration = Duration::from_millis(500);

pub(super) struct Pool {
    url: Url,
    pub(super) options: Options,
    seats: Semaphore,
    idle: Mutex<Vec<Client>>,
    /// Settings of every transaction that depend on what the server can do.
    extra: OnceLock<String>,
}

impl Pool {
    pub(super) fn new(url: &str, options: &Options) -> Result<Arc<Pool>, StoreError> {
        let url = Url::parse(url)?;
        let seats = Semaphore::new(options.connections_max);
        Ok(Arc::new(Pool { url, options: options.clone(), seats, idle: Mutex::default(), extra: OnceLock::new() }))
    }

    /// A connection, as soon as one is free and the server is there.
    pub(super) async fn acquire(&self) -> Result<Session<'_>, Fault> {
        let deadline = Instant::now() + self.options.wait_max;
        let seat = tokio::time::timeout(self.options.wait_max, self.seats.acquire()).await;
        let seat = match seat {
            Ok(Ok(seat)) => seat,
            _ => return Err(Fault::unavailable(format!("all {} connections are busy", self.options.connections_max))),
        };
        let client = match self.waiting() {
            Some(client) => client,
            None => self.connect(deadline).await?,
        };
        Ok(Session { pool: self, client: Some(client), _seat: seat })
    }

    fn waiting(&self) -> Option<Client> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|client| !client.is_closed());
        idle.pop()
    }

    /// A connection that is nobody else's.
    pub(super) async fn dedicated(&self) -> Result<Client, Fault> {
        self.connect(Instant::now() + self.options.wait_max).await
    }

    /// Connects, and again with growing pauses until the deadline: a server that restarts is worth waiting for.
    async fn connect(&self, deadline: Instant) -> Result<Client, Fault> {
        let mut pause = BACK_OFF_FIRST;
        loop {
            match self.url.client().await {
                Ok(client) => return Ok(client),
                Err(fault) if !is_passing(&fault) || Instant::now() + pause > deadline => return Err(fault),
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(BACK_OFF_MAX);
        }
    }

    /// Reads for one tenant: one transaction, one message, one answer; once more where the connection was stale.
    pub(super) async fn read(&self, tenant: Option<TenantId>, steps: &[Step]) -> Result<Vec<Vec<Row>>, Fault> {
        let deadline = Instant::now() + self.options.wait_max;
        loop {
            let session = self.acquire().await?;
            match session.transaction(&self.open(tenant, Mode::Read), steps, "commit").await {
                Err(fault) if fault.is_lost() && Instant::now() < deadline => {}
                answer => return answer,
            }
        }
    }

    /// Adds settings to every transaction from now on.
    pub(super) fn prepare(&self, settings: String) {
        // Set once, when the backend opens.
        let _ = self.extra.set(settings);
    }

    pub(super) fn url(&self) -> Url {
        self.url.clone()
    }

    pub(super) fn location(&self) -> String {
        super::health::location(&self.url.config)
    }

    /// What every transaction starts with. Everything is local to it, so that a pooler may sit between.
    pub(super) fn open(&self, tenant: Option<TenantId>, mode: Mode) -> String {
        let mode = match mode {
            // One moment for all statements of a read.
            Mode::Read => "isolation level repeatable read, read only",
            Mode::Write => "isolation level read committed, read write",
        };
        let extra = self.extra.get().map_or("set local search_path = ingrain;", String::as_str);
        let timeout = self.options.statement_max.as_millis();
        // INVARIANT: an id prints as hex digits and dashes, so it cannot leave its quotes.
        let tenant = tenant.map_or_else(String::new, |tenant| format!("set local app.tenant = '{tenant}';"));
        format!(
            "begin {mode}; set local role ingrain_app; {extra}
             set local statement_timeout = {timeout}; {tenant}"
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
}

/// Whether trying again can help: the server is away, coming up, or full for now.
fn is_passing(fault: &Fault) -> bool {
    let full =
        |fault: &Fault| matches!(fault, Fault::Sql(error) if error.code().is_none_or(|code| code.code() == "53300"));
    !fault.is_seal() && (fault.is_lost() || full(fault))
}

/// A connection for one piece of work. It goes back only after a transaction that ended well.
pub(super) struct Session<'a> {
    pool: &'a Pool,
    client: Option<Client>,
    _seat: SemaphorePermit<'a>,
}

impl Session<'_> {
    /// All of it in one message: opening, statements and end. The first failure is the answer.
    pub(super) async fn transaction(self, open: &str, steps: &[Step], close: &str) -> Result<Vec<Vec<Row>>, Fault> {
        let answer = self.send(Some(open), steps, Some(close)).await;
        // A transaction that failed ended at its `commit`, so the connection is as good as before.
        if !answer.as_ref().is_err_and(Fault::is_lost) {
            self.give_back();
        }
        answer
    }

    /// Sends statements without waiting between them. An open transaction stays open.
    pub(super) async fn send(
        &self,
        open: Option<&str>,
        steps: &[Step],
        close: Option<&str>,
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let Some(client) = &self.client else { return Err(Fault::unavailable("the connection was given back")) };
        let mut waiting: Vec<Answer<'_>> = Vec::with_capacity(steps.len() + 2);
        waiting.extend(open.map(|sql| command(client, sql)));
        waiting.extend(steps.iter().map(|step| query(client, step)));
        waiting.extend(close.map(|sql| command(client, sql)));
        let mut answers = in_order(waiting).await.into_iter();
        if open.is_some() {
            answers.next().transpose()?;
        }
        let mut rows = Vec::with_capacity(steps.len());
        for answer in answers {
            rows.push(answer?);
        }
        rows.truncate(steps.len());
        Ok(rows)
    }

    /// Ends an open transaction without a trace.
    pub(super) async fn roll_back(self) {
        if self.send(None, &[], Some("rollback")).await.is_ok() {
            self.give_back();
        }
    }

    /// Lets the next one have the connection. Without this it is closed.
    pub(super) fn give_back(mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }
}

pub(super) type Answer<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Fault>> + Send + 'a>>;

fn command<'a>(client: &'a Client, sql: &'a str) -> Answer<'a> {
    Box::pin(async move { Ok(client.batch_execute(sql).await.map(|()| Vec::new())?) })
}

pub(super) fn query<'a>(client: &'a Client, step: &'a Step) -> Answer<'a> {
    Box::pin(async move {
        let params: Vec<_> = step.params.iter().map(|param| (&*param.0 as &ToSqlSync, param.1.clone())).collect();
        Ok(client.query_typed(&step.sql, &params).await?)
    })
}

type ToSqlSync = dyn ToSql + Sync;

/// Polls in order, so that requests leave in order, and waits for all of them.
async fn in_order(mut waiting: Vec<Answer<'_>>) -> Vec<Result<Vec<Row>, Fault>> {
    let mut answers: Vec<Option<Result<Vec<Row>, Fault>>> = waiting.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut pending = false;
        for (future, answer) in waiting.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(done) => *answer = Some(done),
                    Poll::Pending => pending = true,
                }
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    answers.into_iter().flatten().collect()
}
