//! Tests of the entity reader.
use proptest::prelude::*;

use super::*;

#[test]
fn texts_name_things() {
    let check = |text: &str, expected: &[&str]| {
        let found: Vec<String> = extract(text).iter().map(Entity::to_string).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("deployment/web -n prod", &["namespace:prod", "resource:web", "environment:prod"]);
    check("kubectl --namespace=billing get pods", &["namespace:billing"]);
    check("Deployment.apps/web-1 failed.", &["resource:web-1"]);
    check("the checkout service in production", &["resource:checkout", "environment:prod", "service:checkout"]);
    check("why did nginx crash", &["service:nginx"]);
    check("configmap nginx-conf had a bad upstream", &["resource:nginx-conf", "service:nginx"]);
    check("http://web.shop.svc.cluster.local:8080/x", &["namespace:shop", "service:web"]);
    check("`systemctl restart sshd.service`", &["service:sshd"]);
    check("checkout-service is slow", &["service:checkout"]);
    check("in the staging namespace", &["namespace:staging", "environment:staging"]);
    check("we test it on a test cluster", &["environment:test"]);
    check("env=qa", &["environment:qa"]);
    check("postgresql and PostgreSQL", &["service:postgres"]);
    check("I went camping with the kids.", &[]);
    check("the deployment failed after the service restarted", &[]);
    check("Leave out anything secret, keep secrets elsewhere; the whole cluster knows nothing secret.", &[]);
    check("", &[]);
}

#[test]
fn overlap_is_the_share_of_what_was_asked() {
    let check = |asked: &str, memory: &str, expected: f64| {
        assert!((query_coverage(&extract(asked), &extract(memory)) - expected).abs() < 1e-9, "{asked} / {memory}");
    };
    check("deployment/web -n prod", "scaled deployment/web -n prod", 1.0);
    check("deployment/web", "pod/web", 1.0);
    check("svc/web", "deployment/web", 0.75);
    check("deployment/web -n prod", "production was down", 0.5);
    check("deployment/web", "nothing", 0.0);
    check("nothing", "deployment/web", 0.0);
}

#[test]
fn entities_are_written_and_read() {
    let entity: Entity = "namespace:prod".parse().expect("an entity");
    assert_eq!(serde_json::to_string(&entity).expect("json"), "\"namespace:prod\"");
    assert_eq!(serde_json::from_str::<Entity>("\"namespace:prod\"").expect("entity"), entity);
    assert!("planet:earth".parse::<Entity>().is_err() && "namespace:".parse::<Entity>().is_err());
}

proptest! {
    #[test]
    fn any_text_gives_bounded_sorted_entities(text in "\\PC{0,200}") {
        let found = extract(&text);
        prop_assert!(found.len() <= ENTITIES_MAX && found.is_sorted_by(|a, b| a < b));
        let whole = query_coverage(&found, &found);
        prop_assert!(found.is_empty() || (whole - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_written_reads_back(text in "(deployment|svc|ns)/[a-z]{1,9} -n [a-z]{1,9}") {
        for entity in extract(&text) {
            prop_assert_eq!(entity.to_string().parse::<Entity>().ok(), Some(entity));
        }
    }
}
