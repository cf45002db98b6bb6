//! Upkeep among many processes: whose turn it is, and what becomes of the work of one that died.

use engine::model::caller::Caller;
use engine::model::memory::Draft;
use engine::model::row::{Row, RowKind};
use engine::model::vocabulary::Kind;
use engine::ports::Clock;
use engine::ports::change::{Change, Write};
use engine::{UpkeepOptions, UpkeepReport};
use jiff::{SignedDuration, ToSpan};
use serde_json::json;

use crate::house::House;

#[test]
fn work_of_a_process_that_died_is_taken_up() {
    let mut house = House::new();
    // Its server keeps up too, and would take turns with us.
    house.close();
    let (engine, tenant) = (&house.engine, house.tenant.id);
    let now = house.clock.now();
    let draft = Draft {
        store: "workspace_runbooks".to_owned(),
        path: Some("runbooks/short".to_owned()),
        kind: Some(Kind::Runbook),
        content: "for a minute only".to_owned(),
        expires_at: Some(now + 60.seconds()),
        ..Draft::default()
    };
    engine.remember(&Caller::admin(tenant), draft).expect("saves");
    house.clock.pass(120);
    // Somebody took it and was never heard of again.
    let until = house.clock.now() + 300.seconds();
    let holder = "0198c0de-0000-7000-8000-000000000001";
    let lease = Row {
        kind: RowKind::Leases,
        id: "upkeep".to_owned(),
        state: holder.to_owned(),
        subject: String::new(),
        parent: String::new(),
        at: until,
        body: json!({ "work": "upkeep", "holder": holder, "until": until }),
    };
    house.backend.commit(Change::new(tenant, now).with_write(Write::Row(lease)).scanned()).expect("writes");
    let upkeep = || {
        let done = engine.upkeep(tenant, UpkeepOptions::default()).expect("keeps");
        // How it went about it is another question.
        UpkeepReport { transactions: 0, longest: SignedDuration::ZERO, ..done }
    };
    assert_eq!(upkeep(), UpkeepReport { elsewhere: true, ..UpkeepReport::default() });
    house.clock.pass(300);
    assert_eq!(upkeep(), UpkeepReport { expired: 1, ..UpkeepReport::default() });
    assert_eq!(upkeep(), UpkeepReport::default());
    assert_eq!(house.backend.get_row(tenant, RowKind::Leases, "upkeep").expect("reads"), None, "given back");
}
