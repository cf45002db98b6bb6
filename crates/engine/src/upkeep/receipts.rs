//! Retention: deletes receipts and usage records after `receipt_days`, and questions a day after they were asked.

use jiff::ToSpan;

use crate::Engine;
use crate::model::error::Error;
use crate::model::id::TenantId;
use crate::model::question::QuestionState;
use crate::model::row::{Row, RowFilter, RowKind};
use crate::ports::change::{Change, Write};
use crate::recall::usage::Touch;
use crate::receipts::receipt;
use crate::upkeep::lease::WorkLease;
use crate::upkeep::{UpkeepOptions, run_in_batches};

/// Deletes receipts and usage records past their retention time; returns how many.
pub(crate) fn purge_receipts(
    engine: &Engine,
    tenant: TenantId,
    upkeep: UpkeepOptions,
    lease: &mut WorkLease<'_>,
) -> Result<u64, Error> {
    let Some(before) = receipt::receipt_retention_start(engine) else { return Ok(0) };
    let mut deleted = 0;
    // One query for each state: the indexes sort by state, then time.
    let usages = Touch::ALL.iter().map(|touch| (RowKind::Usage, touch.as_str()));
    for (kind, state) in std::iter::once((RowKind::Receipts, "")).chain(usages) {
        let (state, before) = (Some(state.to_owned()), Some(before));
        let filter = RowFilter { state, before, limit: upkeep.batch, ..RowFilter::default() };
        deleted += run_in_batches(
            upkeep,
            lease,
            || Ok(engine.backend.list_rows(tenant, kind, &filter)?),
            |rows| delete_rows(engine, tenant, kind, rows),
        )?;
    }
    Ok(deleted)
}

/// Deletes questions whose time to answer is long over.
pub(crate) fn purge_questions(
    engine: &Engine,
    tenant: TenantId,
    upkeep: UpkeepOptions,
    lease: &mut WorkLease<'_>,
) -> Result<(), Error> {
    // Kept for some time after they lapse, so that a late answer can be explained.
    let hours = i64::from(engine.limits().question_minutes_max) / 60 + 24;
    let Ok(before) = engine.clock.now().checked_sub(hours.hours()) else { return Ok(()) };
    let kind = RowKind::Questions;
    for state in QuestionState::ALL {
        let (state, before) = (Some(state.to_string()), Some(before));
        let filter = RowFilter { state, before, limit: upkeep.batch, ..RowFilter::default() };
        run_in_batches(
            upkeep,
            lease,
            || Ok(engine.backend.list_rows(tenant, kind, &filter)?),
            |rows| delete_rows(engine, tenant, kind, rows),
        )?;
    }
    Ok(())
}

fn delete_rows(engine: &Engine, tenant: TenantId, kind: RowKind, rows: &[Row]) -> Result<u64, Error> {
    let delete = |change: Change, row: &Row| change.with_write(Write::DeleteRow { kind, id: row.id.clone() });
    engine.commit(rows.iter().fold(Change::new(tenant, engine.clock.now()), delete))?;
    Ok(rows.len() as u64)
}
