//! The event log as a feed, for doors that stream it.

use std::sync::Arc;
use std::time::Duration;

use crate::Engine;
use crate::model::error::{Error, StoreError};
use crate::model::event::Event;
use crate::model::id::TenantId;
use crate::ports::Backend;

/// Reads events of a tenant in order. Unfiltered: a door shows an event only after
/// [`EventVisibility`](crate::EventVisibility) let it pass.
#[derive(Clone)]
pub struct EventFeed {
    backend: Arc<dyn Backend>,
}

impl Engine {
    pub fn event_feed(&self) -> EventFeed {
        EventFeed { backend: self.backend.clone() }
    }
}

impl EventFeed {
    /// Events after `seq`, in order, without gaps.
    pub fn events_after(&self, tenant: TenantId, seq: u64, limit: usize) -> Result<Vec<Event>, Error> {
        Ok(self.backend.events_after(tenant, seq, limit)?)
    }

    /// Number of the last event.
    pub fn last_event_seq(&self, tenant: TenantId) -> Result<u64, Error> {
        Ok(self.backend.last_event_seq(tenant)?)
    }

    /// Blocks until there is an event after `seq`, at most that long; answers the number of the last one.
    pub fn wait_events(&self, tenant: TenantId, seq: u64, at_most: Duration) -> Result<u64, StoreError> {
        self.backend.wait_events(tenant, seq, at_most)
    }
}
