//! The project of a client that names its folders ("roots"): an editor may start its servers in any directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use engine::gate::check_caller;
use engine::model::caller::Caller;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::Mutex;

use super::caller::is_stateless;

/// Finds the project of a folder on this machine.
pub type ProjectFinder = Arc<dyn Fn(&Path) -> Option<String> + Send + Sync>;

/// Longest wait for the client's answer. Without one, the project of the working directory stays.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Asks the client for its folders once, and again after they changed.
#[derive(Clone)]
pub(super) struct ClientProject {
    find: ProjectFinder,
    /// `None`: not asked yet. Inside: the project of the first folder, if the client named one.
    found: Arc<Mutex<Option<Option<String>>>>,
}

impl ClientProject {
    pub(super) fn new(find: ProjectFinder) -> ClientProject {
        ClientProject { find, found: Arc::default() }
    }

    /// The caller in the project of the client's first folder, by the name of the folder: see
    /// [`super::Door::with_resolved_project`]. Unchanged where the client names none.
    pub(super) async fn add_to(
        &self,
        caller: &Arc<Caller>,
        engine: &Engine,
        context: &RequestContext<RoleServer>,
    ) -> Arc<Caller> {
        let project = {
            // Held while asking: calls that come meanwhile wait for the same answer.
            let mut found = self.found.lock().await;
            match &*found {
                Some(project) => project.clone(),
                None => found.insert(self.ask(context).await).clone(),
            }
        };
        let Some(project) = project.filter(|project| caller.project.as_ref() != Some(project)) else {
            return caller.clone();
        };
        let named = Caller { project: Some(project), merged_projects: Vec::new(), ..Caller::clone(caller) };
        // The client chose the folder, and a file in it the name.
        if check_caller(&named, &engine.settings.limits).is_err() {
            return caller.clone();
        }
        Arc::new(named)
    }

    pub(super) async fn forget(&self) {
        *self.found.lock().await = None;
    }

    #[expect(deprecated, reason = "roots end with the protocol that has sessions; its clients still send them")]
    async fn ask(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let offers_roots = context.client_capabilities().is_some_and(|offered| offered.roots.is_some());
        // The stateless protocol has no requests from server to client.
        if !offers_roots || is_stateless(context) {
            return None;
        }
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, context.peer.list_roots()).await.ok()?.ok()?;
        let folder = answer.roots.iter().find_map(|root| folder_of(&root.uri))?;
        (self.find)(&folder)
    }
}

/// The folder of a `file:` URI.
fn folder_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    Some(PathBuf::from(path.into_owned())).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_uris_are_folders() {
        for (uri, expected) in [
            ("file:///work/my%20shop", Some("/work/my shop")),
            ("file://localhost/work", Some("/work")),
            ("file://other/work", None),
            ("https://h/work", None),
            ("/work", None),
            ("file:///%ff", None),
        ] {
            assert_eq!(folder_of(uri), expected.map(PathBuf::from), "{uri}");
        }
    }
}
