//! MCP resources: stores and documents by URI, with completions for both.

use engine::model::caller::Caller;
use engine::model::error::Error;
use engine::model::id::VersionId;
use engine::model::memory::Memory;
use engine::model::store::Store;
use engine::model::trust_flow::Field;
use engine::ports::{Filter, ListCursor, SortOrder};
use engine::text::direction_marks::escape_direction_marks;
use engine::{Engine, MemoryReference};
use rmcp::model::{
    CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, ListResourceTemplatesResult,
    ListResourcesResult, MetaObject, PaginatedRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};

use super::toolsets::DATA_WARNING;

const STORES_URI: &str = "memory://stores";
const PAGE_ROWS: usize = 100;
const LIST_ORDER: SortOrder = SortOrder::Newest;
/// Most values in one completion, as the protocol demands.
const COMPLETIONS_MAX: usize = 100;

pub(super) fn list_templates() -> ListResourceTemplatesResult {
    let document = ResourceTemplate::new("memory://stores/{store}/docs/{+path}", "document")
        .with_title("A document")
        .with_description("A memory by store and path; add @{version} for one of its versions.")
        .with_mime_type("text/markdown");
    let version = ResourceTemplate::new("memory://stores/{store}/docs/{+path}@{version}", "document-version")
        .with_title("A version of a document")
        .with_mime_type("text/markdown");
    ListResourceTemplatesResult::with_all_items(vec![document, version]).with_cache_scope(CacheScope::Private)
}

/// A page of resources: on the first page the list of stores, then the documents the caller may see.
pub(super) fn list_resources(
    engine: &Engine,
    caller: &Caller,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let parse = |token: &str| ListCursor::from_token(LIST_ORDER, token);
    let invalid = |error: Error| ErrorData::invalid_params(error.to_string(), None);
    let after = cursor.as_deref().map(parse).transpose().map_err(invalid)?;
    let mut resources = Vec::new();
    if after.is_none() {
        resources.push(Resource::new(STORES_URI, "stores").with_title("Stores").with_mime_type("application/json"));
    }
    let listing = engine
        .list(caller, Filter::default(), LIST_ORDER, after, Some(PAGE_ROWS))
        .map_err(|error| log_internal_error(&error))?;
    resources.extend(listing.memories.iter().filter_map(to_resource));
    let mut result = ListResourcesResult::with_all_items(resources).with_cache_scope(CacheScope::Private);
    result.next_cursor = listing.next.map(|next| next.to_token(LIST_ORDER));
    Ok(result)
}

fn to_resource(memory: &Memory) -> Option<Resource> {
    // A memory without a path has no URI, so a page may be shorter than its limit.
    let path = memory.path.as_deref()?;
    // The path is the address and claims no trust; a title does.
    let title = memory.title.clone().filter(|_| memory.reaches(Field::Title, memory.trust));
    let name = title.unwrap_or_else(|| path.to_owned());
    let resource = Resource::new(format!("{STORES_URI}/{}/docs/{path}", memory.store), path).with_title(name);
    Some(resource.with_mime_type("text/markdown").with_size(memory.size_bytes))
}

pub(super) fn read_resource(engine: &Engine, caller: &Caller, uri: &str) -> Result<ReadResourceResponse, ErrorData> {
    let missing = || ErrorData::resource_not_found("no such resource", Some(serde_json::json!({ "uri": uri })));
    if uri == STORES_URI {
        let text = stores_json(engine, caller).map_err(|error| log_internal_error(&error))?;
        return Ok(to_read_response(ResourceContents::text(text, uri).with_mime_type("application/json")));
    }
    let (store, path) =
        uri.strip_prefix("memory://stores/").and_then(|rest| rest.split_once("/docs/")).ok_or_else(missing)?;
    let memory = read_document(engine, caller, store, path).map_err(|error| match error {
        // A malformed path is answered like an unknown one.
        Error::NotFound { .. } | Error::Invalid { .. } => missing(),
        other => log_internal_error(&other),
    })?;
    let meta = trust_label(&memory);
    let contents = ResourceContents::text(escape_direction_marks(&memory.content), uri)
        .with_mime_type("text/markdown")
        .with_meta(meta);
    Ok(to_read_response(contents))
}

/// The stores, each with whether the caller may write to it. Those that it could use for the first time are included.
fn stores_json(engine: &Engine, caller: &Caller) -> Result<String, Error> {
    let writable = engine.writable_stores(caller)?;
    let mut stores = engine.stores(caller)?;
    let unused = writable.iter().filter(|one| !stores.iter().any(|store| store.slug == one.slug)).cloned();
    let unused: Vec<Store> = unused.collect();
    stores.extend(unused);
    let describe = |store: &Store| {
        let mut described = serde_json::json!(store);
        described["writable"] = writable.iter().any(|one| one.slug == store.slug).into();
        described
    };
    Ok(format!("{:#}", stores.iter().map(describe).collect::<serde_json::Value>()))
}

/// What the tools say beside a text, so that a client does not take a draft for a reviewed document.
fn trust_label(memory: &Memory) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.insert("ingrain/trust_level".to_owned(), memory.trust.as_str().into());
    meta.insert("ingrain/status".to_owned(), memory.state.as_str().into());
    meta.insert("ingrain/warning".to_owned(), DATA_WARNING.into());
    meta
}

/// A document; `path@version` names one of its versions.
fn read_document(engine: &Engine, caller: &Caller, store: &str, path: &str) -> Result<Memory, Error> {
    // A path may contain `@`: only a valid version id after the last one counts.
    let versioned = path.rsplit_once('@').and_then(|(path, version)| Some((path, version.parse::<VersionId>().ok()?)));
    if let Some((path, version)) = versioned {
        let version = engine.version(caller, version)?;
        // The id alone would do, but a URI must not show a document at another path.
        let same = version.memory.store == store && version.memory.path.as_deref() == Some(path);
        return same.then_some(version.memory).ok_or_else(|| Error::not_found("version"));
    }
    let reference = MemoryReference::Path { store: Some(store.to_owned()), path: path.to_owned() };
    engine.read(caller, &reference)
}

fn to_read_response(contents: ResourceContents) -> ReadResourceResponse {
    ReadResourceResult::new(vec![contents]).with_cache_scope(CacheScope::Private).into()
}

/// Completes the arguments of resource templates: `store` by slug, `path` by prefix.
pub(super) fn complete_argument(
    engine: &Engine,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let typed = request.argument.value.as_str();
    let values = match request.argument.name.as_str() {
        "store" => {
            let stores = engine.stores(caller).map_err(|error| log_internal_error(&error))?;
            stores.into_iter().map(|store| store.slug).filter(|slug| slug.starts_with(typed)).collect()
        }
        "path" => {
            let prefix = Some(typed.trim_start_matches('/').to_owned()).filter(|typed| !typed.is_empty());
            let filter = Filter { path_prefix: prefix, ..Filter::default() };
            let listing = engine
                .list(caller, filter, SortOrder::Path, None, Some(COMPLETIONS_MAX))
                .map_err(|error| log_internal_error(&error))?;
            listing.memories.into_iter().filter_map(|memory| memory.path).collect()
        }
        // An argument without suggestions is no error.
        _ => Vec::new(),
    };
    let values: Vec<String> = values.into_iter().take(COMPLETIONS_MAX).collect();
    let info = CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

fn log_internal_error(error: &Error) -> ErrorData {
    tracing::error!("could not read a resource: {error}");
    // Only the code: the message may come from the database driver.
    ErrorData::internal_error(error.code(), None)
}
