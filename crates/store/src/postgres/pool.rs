//! The connection pool, and transactions whose statements are sent without waiting for each other (pipelining).

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use engine::model::error::StoreError;
use engine::model::id::TenantId;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use super::PostgresOptions;
use super::fault::Fault;
use super::row_codec::Statement;
use super::server_url::ServerUrl;
use crate::sync::lock;

/// Pause before the second attempt to connect; it doubles with each attempt.
const BACK_OFF_FIRST: Duration = Duration::from_millis(20);
/// Longest pause between attempts, so that a restarted server is found soon.
const BACK_OFF_MAX: Duration = Duration::from_millis(500);

pub(super) struct Pool {
    url: ServerUrl,
    pub(super) options: PostgresOptions,
    /// One permit per connection that may be open.
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
    /// Settings of every transaction that depend on the server's extensions.
    settings: OnceLock<String>,
}

impl Pool {
    pub(super) fn new(url: &str, options: &PostgresOptions) -> Result<Arc<Pool>, StoreError> {
        let url = ServerUrl::parse(url)?;
        let permits = Semaphore::new(options.connections_max);
        Ok(Arc::new(Pool { url, options: options.clone(), permits, idle: Mutex::default(), settings: OnceLock::new() }))
    }

    /// A connection, as soon as one is free and the server is reachable.
    pub(super) async fn acquire(&self) -> Result<Session<'_>, Fault> {
        // Taken before the wait for a permit, so that both waits share one budget.
        let deadline = Instant::now() + self.options.wait_max;
        let permit = tokio::time::timeout(self.options.wait_max, self.permits.acquire()).await;
        let permit = match permit {
            Ok(Ok(permit)) => permit,
            // The semaphore is never closed, so this is the timeout.
            _ => return Err(Fault::unavailable(format!("all {} connections are busy", self.options.connections_max))),
        };
        let client = match self.take_idle() {
            Some(client) => client,
            None => self.connect_until(deadline).await?,
        };
        Ok(Session { pool: self, client: Some(client), _permit: permit })
    }

    fn take_idle(&self) -> Option<Client> {
        let mut idle = lock(&self.idle);
        // A server restart breaks all idle connections at once; the driver has noticed most of them by now.
        idle.retain(|client| !client.is_closed());
        idle.pop()
    }

    /// A connection outside the pool.
    pub(super) async fn connect_dedicated(&self) -> Result<Client, Fault> {
        self.connect_until(Instant::now() + self.options.wait_max).await
    }

    /// Connects; tries again with growing pauses until the deadline, as the server may be restarting.
    async fn connect_until(&self, deadline: Instant) -> Result<Client, Fault> {
        let mut pause = BACK_OFF_FIRST;
        loop {
            match self.url.spawn_client().await {
                Ok(client) => return Ok(client),
                // A pause that ends after the deadline cannot help, so the failure is returned without it.
                Err(fault) if !is_transient(&fault) || Instant::now() + pause > deadline => return Err(fault),
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(BACK_OFF_MAX);
        }
    }

    /// Runs queries in one read-only transaction and one round trip. Tries again where an idle connection turns out to
    /// be broken: a read can be repeated safely.
    pub(super) async fn query_read_only(
        &self,
        tenant: Option<TenantId>,
        statements: &[Statement],
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let deadline = Instant::now() + self.options.wait_max;
        loop {
            let session = self.acquire().await?;
            match session.run_transaction(&self.begin_sql(tenant, TransactionMode::Read), statements, "commit").await {
                // No pause here: where the server is away, `acquire` pauses while it reconnects.
                Err(fault) if fault.is_connection_lost() && Instant::now() < deadline => {}
                result => return result,
            }
        }
    }

    /// Adds settings to every transaction from now on.
    pub(super) fn add_settings(&self, settings: String) {
        // Called once, when the backend opens.
        let _ = self.settings.set(settings);
    }

    pub(super) fn url(&self) -> ServerUrl {
        self.url.clone()
    }

    pub(super) fn location(&self) -> String {
        super::health::display_location(&self.url.config)
    }

    /// The opening of every transaction. All settings are local to it, so that a pooler such as PgBouncer may sit
    /// between.
    pub(super) fn begin_sql(&self, tenant: Option<TenantId>, mode: TransactionMode) -> String {
        let mode = match mode {
            // One snapshot for all statements of a read.
            TransactionMode::Read => "isolation level repeatable read, read only",
            // Writers queue on the lock of the tenant's head. With one snapshot for the whole transaction, each that
            // waited there would fail as not serialisable.
            TransactionMode::Write => "isolation level read committed, read write",
        };
        // Not set yet while the backend opens: the checks made then need only the schema.
        let extra = self.settings.get().map_or("set local search_path = ingrain;", String::as_str);
        let timeout = self.options.statement_max.as_millis();
        // INVARIANT: an id prints as hex digits and dashes, so it cannot break out of the quotes.
        let tenant = tenant.map_or_else(String::new, |tenant| format!("set local app.tenant = '{tenant}';"));
        // Superusers bypass row-level security even where it is forced, so each transaction takes the application's
        // role. Without a tenant the policies show no row of any tenant.
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

/// Whether another attempt to connect can help: the server is unreachable, starting, or has no free connection (53300).
fn is_transient(fault: &Fault) -> bool {
    let is_full =
        |fault: &Fault| matches!(fault, Fault::Sql(error) if error.code().is_none_or(|code| code.code() == "53300"));
    !fault.is_tls_failure() && (fault.is_connection_lost() || is_full(fault))
}

/// A connection taken from the pool. Closed when dropped, unless it is given back.
pub(super) struct Session<'a> {
    pool: &'a Pool,
    client: Option<Client>,
    _permit: SemaphorePermit<'a>,
}

impl Session<'_> {
    /// Sends opening, statements and end together; returns the first failure.
    pub(super) async fn run_transaction(
        self,
        open: &str,
        statements: &[Statement],
        close: &str,
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let result = self.send_statements(Some(open), statements, Some(close)).await;
        // A failed transaction is rolled back at its `commit`, so the connection is clean.
        if !result.as_ref().is_err_and(Fault::is_connection_lost) {
            self.give_back();
        }
        result
    }

    /// Sends statements without waiting between them. Without `close` the transaction stays open.
    pub(super) async fn send_statements(
        &self,
        open: Option<&str>,
        statements: &[Statement],
        close: Option<&str>,
    ) -> Result<Vec<Vec<Row>>, Fault> {
        let Some(client) = &self.client else { return Err(Fault::unavailable("the connection was given back")) };
        let mut pending: Vec<PendingRows<'_>> = Vec::with_capacity(statements.len() + 2);
        pending.extend(open.map(|sql| send_command(client, sql)));
        pending.extend(statements.iter().map(|statement| send_query(client, statement)));
        pending.extend(close.map(|sql| send_command(client, sql)));
        // In order, so the first error is the cause: later statements only report an aborted transaction (25P02).
        let mut results = await_in_order(pending).await.into_iter();
        if open.is_some() {
            results.next().transpose()?;
        }
        let mut rows = Vec::with_capacity(statements.len());
        for result in results {
            rows.push(result?);
        }
        // Without the empty result of `close`.
        rows.truncate(statements.len());
        Ok(rows)
    }

    /// Rolls back the open transaction.
    pub(super) async fn roll_back(self) {
        // Otherwise the connection closes with the session, and the server rolls back by itself.
        if self.send_statements(None, &[], Some("rollback")).await.is_ok() {
            self.give_back();
        }
    }

    /// Returns the connection to the pool.
    pub(super) fn give_back(mut self) {
        if let Some(client) = self.client.take().filter(|client| !client.is_closed()) {
            // Before the permit is released, so that a waiting request finds this connection instead of opening one.
            lock(&self.pool.idle).push(client);
        }
    }
}

pub(super) type PendingRows<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Fault>> + Send + 'a>>;

fn send_command<'a>(client: &'a Client, sql: &'a str) -> PendingRows<'a> {
    Box::pin(async move { Ok(client.batch_execute(sql).await.map(|()| Vec::new())?) })
}

pub(super) fn send_query<'a>(client: &'a Client, statement: &'a Statement) -> PendingRows<'a> {
    Box::pin(async move {
        let params: Vec<_> = statement.params.iter().map(|param| (&*param.0 as &ToSqlSync, param.1.clone())).collect();
        // An unnamed statement: a named one would stay on a server connection that a pooler gives to others.
        Ok(client.query_typed(&statement.sql, &params).await?)
    })
}

type ToSqlSync = dyn ToSql + Sync;

/// Polls the requests in order and waits for all of them. The driver sends a request when it is first polled, so they
/// are sent in this order.
async fn await_in_order(mut requests: Vec<PendingRows<'_>>) -> Vec<Result<Vec<Row>, Fault>> {
    let mut results: Vec<Option<Result<Vec<Row>, Fault>>> = requests.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_pending = false;
        for (future, result) in requests.iter_mut().zip(&mut results) {
            if result.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(done) => *result = Some(done),
                    Poll::Pending => is_pending = true,
                }
            }
        }
        if is_pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    results.into_iter().flatten().collect()
}
