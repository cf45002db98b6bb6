//! Pipelines: an agent of a pipeline has memory only after an admin's opt-in.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::gate::check_label;
use crate::model::caller::Caller;
use crate::model::error::Error;
use crate::model::event::{EventBody, EventName};
use crate::model::guard::Place;
use crate::model::row::{RowFilter, RowKind, SideRecord};
use crate::model::scope::Scope;
use crate::policy::admins_only;
use crate::ports::change::{Change, Write};
use crate::ports::row;

/// Memory settings of one agent in one pipeline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OptIn {
    pub pipeline: String,
    pub agent: String,
    pub enabled: bool,
    /// Most memories per recall; `None`: `limits.lesson_recall_max`.
    pub max_recall: Option<u32>,
    /// Most bytes per lesson, if below the ruleset's cap; `None`: the ruleset's cap.
    pub max_content_bytes: Option<u64>,
    pub changed_at: Timestamp,
}

impl SideRecord for OptIn {
    const KIND: RowKind = RowKind::Pipelines;
    fn row_id(&self) -> String {
        opt_in_id(&self.pipeline, &self.agent)
    }
    fn row_time(&self) -> Timestamp {
        self.changed_at
    }
    fn row_state(&self) -> String {
        if self.enabled { "enabled" } else { "disabled" }.to_owned()
    }
    fn row_parent(&self) -> String {
        self.pipeline.clone()
    }
}

fn opt_in_id(pipeline: &str, agent: &str) -> String {
    // The unit separator is a control character, which no name may contain: no two pairs share an id.
    format!("{pipeline}\u{1f}{agent}")
}

impl Engine {
    /// The caller's opt-in; `None` if there is none, it is disabled, or the caller is in no pipeline.
    pub fn opt_in(&self, caller: &Caller) -> Result<Option<OptIn>, Error> {
        let (Some(pipeline), Some(agent)) = (&caller.pipeline, &caller.agent) else { return Ok(None) };
        let found: Option<OptIn> = row::get_record(&*self.backend, caller.tenant, &opt_in_id(pipeline, agent))?;
        Ok(found.filter(|opt_in| opt_in.enabled))
    }

    /// Enables or disables an agent's memory in a pipeline. Disabling keeps the saved memories. Admins only.
    pub fn set_opt_in(&self, caller: &Caller, opt_in: OptIn) -> Result<OptIn, Error> {
        admins_only(caller)?;
        check_label("pipeline", &opt_in.pipeline, self.limits())?;
        check_label("agent", &opt_in.agent, self.limits())?;
        let now = self.clock.now();
        let opt_in = OptIn { changed_at: now, ..opt_in };
        let event = EventBody::new(EventName::PipelineChanged, caller, now)
            .with_field("pipeline", &opt_in.pipeline)
            .with_field("agent", &opt_in.agent)
            .with_field("enabled", opt_in.enabled);
        self.commit(Change::new(caller.tenant, now).with_write(Write::Row(opt_in.to_row())).with_event(event))?;
        Ok(opt_in)
    }

    /// Opt-ins of one pipeline or of all. Admins only.
    pub fn opt_ins(&self, caller: &Caller, pipeline: Option<&str>) -> Result<Vec<OptIn>, Error> {
        admins_only(caller)?;
        let filter =
            RowFilter { parent: pipeline.map(str::to_owned), limit: self.limits().list_max, ..RowFilter::default() };
        row::select_records(&*self.backend, caller.tenant, &filter)
    }

    /// Deletes a pipeline's opt-ins and its memories with their history. Returns the number of memories. Admins only.
    pub fn delete_pipeline(&self, caller: &Caller, pipeline: &str) -> Result<u64, Error> {
        // Refuses callers other than admins. Includes disabled opt-ins, whose memories are still stored.
        let opt_ins = self.opt_ins(caller, Some(pipeline))?;
        let stores = self.stores(caller)?;
        let now = self.clock.now();
        let mut change = Change::new(caller.tenant, now);
        for opt_in in &opt_ins {
            change = change.with_write(Write::DeleteRow { kind: RowKind::Pipelines, id: opt_in.row_id() });
            let scope = Scope::Pipeline { pipeline: opt_in.pipeline.clone(), agent: opt_in.agent.clone() };
            // Custom stores of scope `pipeline`, too, not only `lessons`.
            for store in stores.iter().filter(|store| store.scope == scope.kind()) {
                let place = Place { store: store.slug.clone(), scope: scope.clone() };
                change = change.with_write(Write::Erase { place });
            }
        }
        if opt_ins.is_empty() {
            return Err(Error::not_found(format!("pipeline `{pipeline}`")));
        }
        let event = EventBody::new(EventName::PipelineDeleted, caller, now)
            .with_field("pipeline", pipeline)
            .with_field("agents", opt_ins.len());
        Ok(self.commit(change.with_event(event))?.erased_count)
    }
}
