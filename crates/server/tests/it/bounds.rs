//! What the document forbids is refused: each bound of each body is crossed once, all else left as in the example.

use serde_json::{Map, Value, json};

use crate::house::House;

/// One step into a value.
#[derive(Clone)]
enum Step {
    Field(String),
    Item,
}

/// A value the document forbids, and where it goes.
struct Crossing {
    at: Vec<Step>,
    rule: &'static str,
    value: Value,
}

struct Document(Value);

impl Document {
    /// The schema with references followed; of a nullable one, the part that is not `null`.
    fn meant<'a>(&'a self, schema: &'a Value) -> &'a Value {
        if let Some(target) = schema["$ref"].as_str() {
            return self
                .meant(self.0.pointer(target.trim_start_matches('#')).expect("a reference that leads somewhere"));
        }
        for one_of in ["anyOf", "oneOf"] {
            let real = schema[one_of].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null"));
            if let Some(real) = real.filter(|_| schema["type"].is_null()) {
                return self.meant(real);
            }
        }
        schema
    }

    /// The smallest value that fits.
    fn least(&self, schema: &Value) -> Value {
        let schema = self.meant(schema);
        if let Some(first) = schema["enum"].get(0).or(schema.get("const")) {
            return first.clone();
        }
        match kind(schema) {
            "object" => {
                let required = schema["required"].as_array().into_iter().flatten();
                let field = |name: &Value| {
                    let name = name.as_str().expect("a name");
                    (name.to_owned(), self.least(&schema["properties"][name]))
                };
                Value::Object(required.map(field).collect::<Map<_, _>>())
            }
            "array" => json!(vec![self.least(&schema["items"]); size(schema, "minItems").unwrap_or(0)]),
            "boolean" => json!(false),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            _ if schema["format"] == "uuid" => json!("01980000-0000-7000-8000-00000000000f"),
            _ if schema["format"] == "date-time" => json!("2030-01-31T12:00:00Z"),
            _ => json!("a".repeat(size(schema, "minLength").unwrap_or(1).max(1))),
        }
    }

    /// Every bound below a schema, crossed.
    fn crossings(&self, schema: &Value, at: &[Step], all: &mut Vec<Crossing>) {
        let schema = self.meant(schema);
        let mut cross = |rule, value| all.push(Crossing { at: at.to_vec(), rule, value });
        let items = |count| json!(vec![self.least(&schema["items"]); count]);
        if let Some(most) = size(schema, "maxLength") {
            cross("maxLength", json!("a".repeat(most + 1)));
        }
        if size(schema, "minLength").is_some_and(|least| least > 0) {
            cross("minLength", json!(""));
        }
        if let Some(most) = size(schema, "maxItems") {
            cross("maxItems", items(most + 1));
        }
        if let Some(least) = size(schema, "minItems").filter(|least| *least > 0) {
            cross("minItems", items(least - 1));
        }
        if let Some(least) = schema["minimum"].as_f64() {
            cross("minimum", json!((least - 1.0) as i64));
        }
        if let Some(most) = schema["maximum"].as_f64().filter(|most| *most < 1e15) {
            cross("maximum", json!((most + 1.0) as i64));
        }
        if !schema["enum"].is_null() {
            cross("enum", json!("no such word"));
        }
        if schema["additionalProperties"] == false {
            let mut value = self.least(schema);
            value["nobody-knows"] = json!(1);
            cross("additionalProperties", value);
        }
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            self.crossings(inner, &[at, &[Step::Field(name.clone())]].concat(), all);
        }
        if schema["items"].is_object() {
            self.crossings(&schema["items"], &[at, &[Step::Item]].concat(), all);
        }
    }

    /// Puts a value where the steps lead, making what is on the way.
    fn put(&self, schema: &Value, into: &mut Value, at: &[Step], value: Value) {
        let schema = self.meant(schema);
        match at {
            [] => *into = value,
            [Step::Field(name), rest @ ..] => {
                if !into.is_object() {
                    *into = self.least(schema);
                }
                self.put(&schema["properties"][name], &mut into[name.as_str()], rest, value);
            }
            [Step::Item, rest @ ..] => {
                let mut item = self.least(&schema["items"]);
                self.put(&schema["items"], &mut item, rest, value);
                *into = json!([item]);
            }
        }
    }
}

fn kind(schema: &Value) -> &str {
    let first = schema["type"].as_array().and_then(|all| all.iter().find(|one| *one != "null"));
    first.unwrap_or(&schema["type"]).as_str().unwrap_or("string")
}

fn size(schema: &Value, bound: &str) -> Option<usize> {
    schema[bound].as_u64().and_then(|size| usize::try_from(size).ok())
}

fn words(at: &[Step]) -> String {
    let word = |step: &Step| match step {
        Step::Field(name) => format!(".{name}"),
        Step::Item => "[]".to_owned(),
    };
    at.iter().map(word).collect()
}

/// What the document shows, about a memory that is there.
fn example(shown: &Value, id: &str) -> Value {
    let mut body = shown.clone();
    for (name, value) in body.as_object_mut().into_iter().flatten() {
        match name.as_str() {
            "memory" => *value = json!(id),
            "store" => *value = json!("workspace_runbooks"),
            _ => {}
        }
    }
    body
}

/// A runbook's id, so that what is refused is refused for its shape.
fn runbook(house: &House) -> String {
    let runbook = json!({
        "store": "workspace_runbooks", "path": "cranes", "kind": "runbook", "content": "the crane is green",
        "evidence": [{ "kind": "user_statement", "summary": "said so" }],
    });
    let saved = house.ask("POST", "/v1/memories").json(&runbook).send().json();
    saved["id"].as_str().expect("an id").to_owned()
}

/// Every operation: method, address with names that are there, and what the document says of it.
fn operations<'a>(document: &'a Document, id: &str) -> Vec<(String, String, &'a Value)> {
    let named = |path: &str| path.replace("{id}", id).replace("{slug}", "workspace_runbooks").replace(['{', '}'], "");
    let paths = document.0["paths"].as_object().expect("paths").iter();
    let each = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods").iter();
        methods.map(move |(method, operation)| (method.to_uppercase(), named(path), operation))
    });
    each.collect()
}

#[test]
fn a_body_that_crosses_a_bound_of_the_document_is_refused() {
    let house = House::new();
    let document = Document(server::openapi());
    let id = runbook(&house);
    let (mut tried, mut accepted) = (0, Vec::new());
    for (method, address, operation) in operations(&document, &id) {
        let body = &operation["requestBody"]["content"]["application/json"];
        let mut crossings = Vec::new();
        document.crossings(&body["schema"], &[], &mut crossings);
        tried += crossings.len();
        for Crossing { at, rule, value } in crossings {
            let mut sent = example(&body["example"], &id);
            document.put(&body["schema"], &mut sent, &at, value);
            let status = house.ask(&method, &address).json(&sent).send().status;
            // A name that no store can have is that of a store nobody has.
            let nobody = status == 404 && words(&at) == ".store";
            if !matches!(status, 400 | 413 | 422) && !nobody {
                accepted.push(format!("{method} {address} {}: {rule} gave {status}", words(&at)));
            }
        }
    }
    assert!(accepted.is_empty(), "of {tried}:\n{}", accepted.join("\n"));
    assert!(tried > 150, "{tried} bounds were found");
}

#[test]
fn a_parameter_that_crosses_a_bound_of_the_document_is_refused() {
    let house = House::new();
    let document = Document(server::openapi());
    let id = runbook(&house);
    let (mut tried, mut accepted) = (0, Vec::new());
    for (method, address, operation) in operations(&document, &id) {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
            let mut crossings = Vec::new();
            document.crossings(&parameter["schema"], &[], &mut crossings);
            let name = parameter["name"].as_str().expect("a name");
            for Crossing { rule, value, .. } in crossings {
                let value = value.as_str().map_or_else(|| value.to_string(), |text| text.replace(' ', "+"));
                let status = house.ask(&method, &format!("{address}?{name}={value}")).send().status;
                tried += 1;
                if status != 400 {
                    accepted.push(format!("{method} {address} {name}: {rule} gave {status}"));
                }
            }
        }
    }
    assert!(accepted.is_empty(), "of {tried}:\n{}", accepted.join("\n"));
    assert!(tried > 20, "{tried} bounds were found");
}
