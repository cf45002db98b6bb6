//! Projects over HTTP: from the key, or from a header that the key may set.

use engine::model::key::{KeyRights, Settable};
use engine::model::vocabulary::Role;
use serde_json::{Value, json};

use crate::house::House;

fn agent_of(house: &House, project: Option<&str>, may_set: &[Settable]) -> String {
    let rights = KeyRights {
        agent: Some("triage".to_owned()),
        project: project.map(str::to_owned),
        may_set: may_set.to_vec(),
        ..KeyRights::for_role(Role::Agent)
    };
    house.key(rights).text
}

fn save(house: &House, key: &str, project: Option<&str>) -> (u16, Value) {
    let body = json!({
        "store": "project_memory", "path": "services/checkout", "content": "checkout needs the flag FAST_CART",
        "evidence": [{ "kind": "tool_result", "summary": "it failed without" }],
    });
    let ask = house.ask_as(key, "POST", "/v1/memories").json(&body);
    let ask = match project {
        Some(project) => ask.header("x-project-id", project),
        None => ask,
    };
    let answer = ask.send();
    (answer.status, answer.json())
}

/// Number of memories of projects that a caller lists.
fn listed(house: &House, key: &str, project: Option<&str>) -> usize {
    let ask = house.ask_as(key, "GET", "/v1/memories?store=project_memory");
    let ask = match project {
        Some(project) => ask.header("x-project-id", project),
        None => ask,
    };
    let answer = ask.send();
    // Before the first save there is no such store to read from.
    answer.json()["items"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_project_comes_from_the_key_or_from_a_header_that_the_key_may_set() {
    let house = House::new();
    let shop = agent_of(&house, Some("shop"), &[]);
    let any = agent_of(&house, None, &[Settable::Project]);
    let none = agent_of(&house, None, &[]);
    let (status, saved) = save(&house, &shop, None);
    assert_eq!((status, &saved["scope"]), (201, &json!({ "kind": "project", "project": "shop" })), "{saved}");
    assert_eq!(save(&house, &none, None).1["code"], json!("scope.project_missing"));
    for key in [&shop, &none] {
        assert_eq!(save(&house, key, Some("other")).0, 403, "the key may not set it");
    }
    assert_eq!((listed(&house, &shop, None), listed(&house, &none, None)), (1, 0));
    assert_eq!((listed(&house, &any, Some("shop")), listed(&house, &any, Some("other"))), (1, 0));
    assert_eq!(listed(&house, &any, None), 0);
}

#[test]
fn projects_are_listed_renamed_merged_and_erased_over_rest() {
    let house = House::new();
    let any = agent_of(&house, None, &[Settable::Project]);
    save(&house, &any, Some("github.com/acme/shop"));
    save(&house, &any, Some("ledger"));
    let name = "github.com%2Facme%2Fshop";
    let shown = house.ask("GET", &format!("/v1/projects/{name}")).send();
    assert_eq!((shown.status, &shown.json()["memories"]), (200, &json!(1)), "{}", shown.body);
    let renamed = house.ask("POST", &format!("/v1/projects/{name}/rename")).json(&json!({ "to": "shop" })).send();
    assert_eq!(renamed.json()["merged"], json!(["github.com/acme/shop"]), "{}", renamed.body);
    assert_eq!(listed(&house, &any, Some("shop")), 1, "under the new name");
    assert_eq!(listed(&house, &any, Some("github.com/acme/shop")), 1, "and under the old one");
    let merged = house.ask("POST", "/v1/projects/ledger/merge").json(&json!({ "into": "shop" })).send();
    assert_eq!(merged.json()["memories"], json!(2), "{}", merged.body);
    let refused = house.ask_as(&any, "POST", "/v1/projects/shop/rename").json(&json!({ "to": "mine" })).send();
    assert_eq!(refused.json()["code"], json!("policy.admins_only"), "{}", refused.body);
    let own = house.ask_as(&any, "GET", "/v1/projects").header("x-project-id", "elsewhere").send();
    assert_eq!(own.json()["items"], json!([]), "{}", own.body);
    let erase = |name: &str| house.ask("POST", "/v1/erasures").json(&json!({ "what": "project", "name": name })).send();
    assert_eq!(erase("ledger").json()["code"], json!("conflict.project_merged"), "more would go than was named");
    let erased = erase("shop");
    assert_eq!((erased.status, &erased.json()["memories"]), (201, &json!(2)), "{}", erased.body);
    assert_eq!(house.ask("GET", "/v1/projects/shop").send().status, 404);
}
