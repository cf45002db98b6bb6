//! The conversation of a folder: sessions that work in one repository share what they save.

use std::path::Path;

use engine::safety;
use engine::text::digest::content_sha256;

use crate::config::Environment;

/// Length of the part that tells folders of one name apart, in hexadecimal digits.
const DIGEST_CHARS: usize = 12;
/// Longest part of a folder's name in the id, in characters.
const NAME_CHARS_MAX: usize = 40;

/// Conversation of the working directory; `None` where it says nothing about the work: the home directory, the folders
/// around it and the root, where editors start their servers.
pub fn find(environment: &Environment) -> Option<String> {
    let folder = std::env::current_dir().ok()?.canonicalize().ok()?;
    let home = environment.get_path("HOME").and_then(|home| home.canonicalize().ok());
    conversation_of(&folder, home.as_deref())
}

fn conversation_of(folder: &Path, home: Option<&Path>) -> Option<String> {
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    if root.parent().is_none() || home.is_some_and(|home| home.starts_with(root)) {
        return None;
    }
    // The path itself is hashed: ids may be seen by others on a shared server.
    let digest: String = content_sha256(&root.to_string_lossy()).chars().take(DIGEST_CHARS).collect();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    let name: String = root.file_name()?.to_string_lossy().chars().take(NAME_CHARS_MAX).map(plain).collect();
    // A name that looks like a key would be refused; the digest alone is an id too.
    let name = if safety::find_token_format(&name).is_some() { "unnamed".to_owned() } else { name };
    Some(format!("folder-{name}-{digest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_repository_share_a_conversation_and_the_home_has_none() {
        let place = tempfile::tempdir().expect("a folder");
        let home = place.path().canonicalize().expect("a path").join("ann");
        let (shop, other) = (home.join("work/shop"), home.join("work/other"));
        std::fs::create_dir_all(shop.join(".git")).expect("made");
        std::fs::create_dir_all(shop.join("src/deep")).expect("made");
        std::fs::create_dir_all(&other).expect("made");
        let of = |folder: &Path| conversation_of(folder, Some(&home));
        let id = of(&shop).expect("an id");
        assert!(id.starts_with("folder-shop-") && !id.contains("ann"), "{id}");
        assert_eq!(of(&shop.join("src/deep")), Some(id.clone()));
        assert!(of(&other).is_some_and(|other| other != id));
        let odd = home.join(format!("work/{}{}", "AKIA", "Q3ZT7WGLB5XKPN2M"));
        std::fs::create_dir_all(&odd).expect("made");
        assert!(of(&odd).is_some_and(|id| id.starts_with("folder-unnamed-")), "a name like a key is left out");
        for shared in [&home, home.parent().expect("a parent"), Path::new("/")] {
            assert_eq!(of(shared), None, "{}", shared.display());
        }
    }
}
