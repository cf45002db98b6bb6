//! The API reference as an HTML page and as Markdown, both rendered from the OpenAPI document.

use std::fmt::Write;

use serde_json::Value;

use crate::openapi;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#1b1f24;background:#fff}\
code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:#f4f6f8;padding:.8rem;overflow-x:auto;border-radius:6px}\
h3 code{background:#eef2f6;padding:.15rem .4rem;border-radius:4px}table{border-collapse:collapse;width:100%}\
td,th{text-align:left;padding:.25rem .6rem .25rem 0;vertical-align:top;border-bottom:1px solid #e5e9ee}\
@media(prefers-color-scheme:dark){body{color:#e6e9ed;background:#14171a}\
pre,h3 code{background:#20252b}td,th{border-color:#2c333a}}";

/// One operation of the document.
struct Operation<'a> {
    method: String,
    path: &'a str,
    value: &'a Value,
}

fn operations_with_tag<'a>(document: &'a Value, tag: &str) -> Vec<Operation<'a>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let each = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, value)| Operation { method: method.to_uppercase(), path, value })
    });
    each.filter(|operation| operation.value["tags"][0] == tag).collect()
}

fn list_tags(document: &Value) -> impl Iterator<Item = (&str, &str)> {
    let tags = document["tags"].as_array().into_iter().flatten();
    tags.map(|tag| (tag["name"].as_str().unwrap_or_default(), tag["description"].as_str().unwrap_or_default()))
}

/// The page at `/docs`.
pub(crate) fn render_page() -> String {
    let document = openapi::build_document();
    let mut page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Ingrain API</title><style>{STYLE}</style><h1>Ingrain API</h1><p>{}</p>\
         <p>The same as <a href=/openapi.json>OpenAPI 3.1</a>.</p>",
        escape_html(document["info"]["description"].as_str().unwrap_or_default())
    );
    for (tag, description) in list_tags(&document) {
        let _ = write!(page, "<h2 id={tag}>{tag}</h2><p>{}</p>", escape_html(description));
        for operation in operations_with_tag(&document, tag) {
            write_operation_html(&mut page, &operation);
        }
    }
    page.push_str("</html>");
    page
}

fn write_operation_html(page: &mut String, operation: &Operation<'_>) {
    let text = |name: &str| escape_html(operation.value[name].as_str().unwrap_or_default());
    let _ = write!(
        page,
        "<h3>{} <code>{} {}</code></h3><p>{}</p>",
        text("summary"),
        operation.method,
        operation.path,
        text("description")
    );
    let parameters = operation.value["parameters"].as_array().into_iter().flatten();
    let rows: String = parameters
        .map(|p| {
            format!(
                "<tr><td><code>{}</code><td>{}<td>{}",
                str_or_empty(&p["name"]),
                str_or_empty(&p["in"]),
                escape_html(str_or_empty(&p["description"]))
            )
        })
        .collect();
    if !rows.is_empty() {
        let _ = write!(page, "<table>{rows}</table>");
    }
    if let Some(example) = body_example(operation.value) {
        let _ = write!(page, "<pre>{}</pre>", escape_html(&example));
    }
    // `default` is the problem document, which is the same everywhere.
    let answers =
        operation.value["responses"].as_object().into_iter().flatten().filter(|(status, _)| *status != "default");
    let rows: String = answers
        .map(|(status, answer)| {
            format!("<tr><td><code>{status}</code><td>{}", escape_html(str_or_empty(&answer["description"])))
        })
        .collect();
    let _ = write!(page, "<table>{rows}</table>");
}

/// The Markdown of `docs/reference/rest.md`.
pub fn render_reference() -> String {
    let document = openapi::build_document();
    let mut page = format!(
        "# REST reference\n\nGenerated from the table of endpoints by a test, which fails when it is stale.\n\n{}\n",
        str_or_empty(&document["info"]["description"])
    );
    for (tag, description) in list_tags(&document) {
        let _ = write!(page, "\n## {tag}\n\n{description}.\n");
        for operation in operations_with_tag(&document, tag) {
            write_operation_markdown(&mut page, &operation);
        }
    }
    page
}

fn write_operation_markdown(page: &mut String, operation: &Operation<'_>) {
    let _ = write!(
        page,
        "\n### `{} {}`\n\n{}.",
        operation.method,
        operation.path,
        str_or_empty(&operation.value["summary"]).trim_end_matches('.')
    );
    match str_or_empty(&operation.value["description"]) {
        "" => page.push('\n'),
        details => {
            let _ = writeln!(page, " {details}");
        }
    }
    // Path parameters are visible in the heading.
    let parameters: Vec<&Value> =
        operation.value["parameters"].as_array().into_iter().flatten().filter(|p| p["in"] != "path").collect();
    if !parameters.is_empty() {
        page.push_str("\n| parameter | in | meaning |\n| --- | --- | --- |\n");
        for parameter in parameters {
            let meaning = str_or_empty(&parameter["description"]).replace('|', "\\|").replace('\n', " ");
            let _ = writeln!(
                page,
                "| `{}` | {} | {meaning} |",
                str_or_empty(&parameter["name"]),
                str_or_empty(&parameter["in"])
            );
        }
    }
    if let Some(example) = body_example(operation.value) {
        let _ = write!(page, "\n```json\n{example}\n```\n");
    }
    page.push_str("\n| answer | |\n| --- | --- |\n");
    for (status, answer) in
        operation.value["responses"].as_object().into_iter().flatten().filter(|(s, _)| *s != "default")
    {
        let _ = writeln!(page, "| {status} | {} |", str_or_empty(&answer["description"]));
    }
}

fn body_example(operation: &Value) -> Option<String> {
    let example = operation.pointer("/requestBody/content/application~1json/example")?;
    serde_json::to_string_pretty(example).ok()
}

fn str_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
