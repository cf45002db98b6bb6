//! Another process on the same database: what it did counts at once, whatever this one knew before.

use engine::model::caller::Caller;
use engine::model::id::MemoryId;
use serde_json::json;

use crate::house::{House, Reply};

fn save(house: &House, content: &str) -> Reply {
    let body = json!({ "store": "workspace_runbooks", "kind": "runbook", "content": content });
    house.ask("POST", "/v1/memories").json(&body).send()
}

#[test]
fn what_another_process_archived_or_forgot_takes_no_writes() {
    let house = House::new();
    let (elsewhere, admin) = (house.engine.with_empty_caches(), Caller::admin(house.tenant.id));
    let saved = save(&house, "restart the proxy by hand");
    let id: MemoryId = saved.json()["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    elsewhere.forget(&admin, id, Some("wrong".to_owned())).expect("forgotten");
    assert_eq!(save(&house, "Restart the proxy by hand!").said(), (403, "policy.forgotten".to_owned()));
    assert_eq!(save(&house, "drain the node first").status, 201);

    elsewhere.archive_store(&admin, "workspace_runbooks").expect("archived");
    assert_eq!(save(&house, "check the endpoints").status, 404);
}
