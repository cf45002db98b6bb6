//! Connections: how they are made, shared and made again, and transactions that travel in one message.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use engine::model::id::TenantId;
use engine::ports::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::PostgresOptions;
use super::fault::Fault;
use super::row_codec::Statement;
use super::server_url::ServerUrl;
use crate::sync::lock;

/// First wait before another attempt to connect; it doubles.
const BACK_OFF_FIRST: Duration = Duration::from_millis(20);
/// The longest wait between attempts, so that a server that is back is found at once.
const BACK_OFF_MAX: Duration = Duration::from_millis(500);

pub(super) struct Pool {
    url: ServerUrl,
    pub(super) options: PostgresOptions,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
    /// Settings of every transaction that depend on what the server can do.
    settings: OnceLock<String>,
}

impl Pool {
    pub(super) fn new(url: &str, options: &PostgresOptions) -> Result<Arc<Pool>, StoreError> {
        let url = ServerUrl::parse(url)?;
        let seats = Semaphore::new(options.connections_max);
        Ok(Arc::new(Pool {
            url,
            options: options.clone(),
            permits: seats,
            idle: Mutex::default(),
            settings: OnceLock::new(),
        }))
    }

    /// A connection, as soon as one is free and the server is there.
    pub(super) async fn acquire(&self) -> Result<Session<'_>, Fault> {
        let deadline = Instant::now() + self.options.wait_max;
        let seat = tokio::time::timeout(self.options.wait_max, self.permits.acquire()).await;
        let seat = match seat {
            Ok(Ok(seat)) => seat,
            _ => return Err(Fault::unavailable(format!("all {} connections are busy", self.options.connections_max))),
        };
        let client = match self.take_idle() {
            Some(client) => client,
            None => self.connect_until(deadline).await?,
        };
        Ok(Session { pool: self, client: Some(client), _seat: seat })
    }

    fn take_idle(&self) -> Option<Client> {
        let mut idle = lock(&self.idle);
        idle.retain(|client| !client.is_closed());
        idle.pop()
    }

    /// A connection that is nobody else's.
    pub(super) async fn connect_dedicated(&self) -> Result<Client, Fault> {
        self.connect_until(Instant::now() + self.options.wait_max).await
    }

    /// Connects, and again with growing pauses until the deadline: a server that restarts is worth waiting for.
    async fn connect_until(&self, deadline: Instant) -> Result<Client, Fault> {
        let mut pause = BACK_OFF_FIRST;
        loop {
            match self.url.spawn_client().await {
                Ok(client) => return Ok(client),
                Err(fault) if !is_transient(&fault) || Instant::now() + pause > deadline => return Err(fault),
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(BACK_OFF_MAX);
        }
    }

    /// Reads for one tenant: one transaction, one message, one answer; once more where the connection was stale.
    pub(super) async fn query_read_only(
        &self,
        tenant: Option<TenantId>,
        steps: &[Statement],
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let deadline = Instant::now() + self.options.wait_max;
        loop {
            let session = self.acquire().await?;
            match session.run_transaction(&self.begin_sql(tenant, TransactionMode::Read), steps, "commit").await {
                Err(fault) if fault.is_connection_lost() && Instant::now() < deadline => {}
                answer => return answer,
            }
        }
    }

    /// Adds settings to every transaction from now on.
    pub(super) fn add_settings(&self, settings: String) {
        // Set once, when the backend opens.
        let _ = self.settings.set(settings);
    }

    pub(super) fn url(&self) -> ServerUrl {
        self.url.clone()
    }

    pub(super) fn location(&self) -> String {
        super::health::display_location(&self.url.config)
    }

    /// What every transaction starts with. Everything is local to it, so that a pooler may sit between.
    pub(super) fn begin_sql(&self, tenant: Option<TenantId>, mode: TransactionMode) -> String {
        let mode = match mode {
            // One moment for all statements of a read.
            TransactionMode::Read => "isolation level repeatable read, read only",
            TransactionMode::Write => "isolation level read committed, read write",
        };
        let extra = self.settings.get().map_or("set local search_path = ingrain;", String::as_str);
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
pub(super) enum TransactionMode {
    Read,
    Write,
}

/// Whether trying again can help: the server is away, coming up, or full for now.
fn is_transient(fault: &Fault) -> bool {
    let full =
        |fault: &Fault| matches!(fault, Fault::Sql(error) if error.code().is_none_or(|code| code.code() == "53300"));
    !fault.is_tls_failure() && (fault.is_connection_lost() || full(fault))
}

/// A connection for one piece of work. It goes back only after a transaction that ended well.
pub(super) struct Session<'a> {
    pool: &'a Pool,
    client: Option<Client>,
    _seat: SemaphorePermit<'a>,
}

impl Session<'_> {
    /// All of it in one message: opening, statements and end. The first failure is the answer.
    pub(super) async fn run_transaction(
        self,
        open: &str,
        steps: &[Statement],
        close: &str,
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let answer = self.send_statements(Some(open), steps, Some(close)).await;
        // A transaction that failed ended at its `commit`, so the connection is as good as before.
        if !answer.as_ref().is_err_and(Fault::is_connection_lost) {
            self.give_back();
        }
        answer
    }

    /// Sends statements without waiting between them. An open transaction stays open.
    pub(super) async fn send_statements(
        &self,
        open: Option<&str>,
        steps: &[Statement],
        close: Option<&str>,
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let Some(client) = &self.client else { return Err(Fault::unavailable("the connection was given back")) };
        let mut waiting: Vec<PendingRows<'_>> = Vec::with_capacity(steps.len() + 2);
        waiting.extend(open.map(|sql| send_command(client, sql)));
        waiting.extend(steps.iter().map(|step| send_query(client, step)));
        waiting.extend(close.map(|sql| send_command(client, sql)));
        let mut answers = await_in_order(waiting).await.into_iter();
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
        if self.send_statements(None, &[], Some("rollback")).await.is_ok() {
            self.give_back();
        }
    }

    /// Lets the next one have the connection. Without this it is closed.
    pub(super) fn give_back(mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            lock(&self.pool.idle).push(client);
        }
    }
}

pub(super) type PendingRows<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Fault>> + Send + 'a>>;

fn send_command<'a>(client: &'a Client, sql: &'a str) -> PendingRows<'a> {
    Box::pin(async move { Ok(client.batch_execute(sql).await.map(|()| Vec::new())?) })
}

pub(super) fn send_query<'a>(client: &'a Client, step: &'a Statement) -> PendingRows<'a> {
    Box::pin(async move {
        let params: Vec<_> = step.params.iter().map(|param| (&*param.0 as &ToSqlSync, param.1.clone())).collect();
        Ok(client.query_typed(&step.sql, &params).await?)
    })
}

type ToSqlSync = dyn ToSql + Sync;

/// Polls in order, so that requests leave in order, and waits for all of them.
async fn await_in_order(mut waiting: Vec<PendingRows<'_>>) -> Vec<Result<Vec<Row>, Fault>> {
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
