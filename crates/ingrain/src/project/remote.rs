//! Git remotes as ids: the same repository by SSH, HTTPS or with a password in its URL has one id.

use std::path::{Path, PathBuf};

/// What a remote's URL names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Remote {
    /// Host and path, such as `github.com/acme/shop`.
    Hosted(String),
    /// A repository on this machine.
    Local(PathBuf),
    /// Nothing that could be an id.
    Unknown,
}

/// Longest id: that of a name in the engine's limits.
const ID_BYTES_MAX: usize = 256;

/// Parses a remote; a relative path is relative to the work tree.
pub fn parse_remote(url: &str, root: &Path) -> Remote {
    let url = url.trim();
    if let Some((scheme, rest)) = url.split_once("://") {
        return match scheme.to_ascii_lowercase().as_str() {
            "file" => Remote::Local(PathBuf::from(rest.trim_start_matches("localhost"))),
            "http" | "https" | "ssh" | "git" | "git+ssh" | "ssh+git" | "ftp" | "ftps" => {
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                hosted(host_of(authority), path)
            }
            _ => Remote::Unknown,
        };
    }
    match url.split_once(':') {
        // `host:path`; a drive letter or a path with a colon behind a slash is a file.
        Some((host, path)) if host.len() > 1 && !host.contains('/') => hosted(host_of(host), path),
        _ if url.is_empty() => Remote::Unknown,
        _ => Remote::Local(root.join(url)),
    }
}

/// The host without user, password and port.
fn host_of(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        // An IPv6 address.
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn hosted(host: &str, path: &str) -> Remote {
    // Hosts treat upper and lower case alike; what they do not, they rarely have twice.
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/').to_lowercase();
    let path = path.strip_suffix(".git").unwrap_or(&path).trim_matches('/');
    let id = format!("{}/{path}", host.trim_end_matches('.').to_lowercase());
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && c != '\\';
    let has_dots = path.split('/').any(|segment| matches!(segment, "" | "." | ".."));
    match host.is_empty() || path.is_empty() || has_dots || id.len() > ID_BYTES_MAX || !id.chars().all(is_plain) {
        true => Remote::Unknown,
        false => Remote::Hosted(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_id() {
        let shop = Remote::Hosted("github.com/acme/shop".to_owned());
        for url in [
            "git@github.com:acme/shop.git",
            "github.com:acme/shop",
            "git@github.com:/acme/shop/",
            "https://github.com/acme/shop",
            "https://GitHub.com/Acme/Shop.git/",
            "https://ann:secret@github.com:443/acme/shop.git",
            "https://ann:p%40ss@github.com/acme/shop?x=1#y",
            "ssh://git@github.com:22/acme/shop.git",
            "git+ssh://git@github.com/acme/shop",
            "git://github.com./acme/shop",
        ] {
            assert_eq!(parse_remote(url, Path::new("/w")), shop, "{url}");
        }
    }

    #[test]
    fn paths_are_local_and_odd_urls_are_nothing() {
        let local = |path: &str| Remote::Local(PathBuf::from(path));
        for (url, expected) in [
            ("/srv/git/shop.git", local("/srv/git/shop.git")),
            ("file:///srv/git/shop", local("/srv/git/shop")),
            ("../shop", local("/w/../shop")),
            ("./a:b", local("/w/./a:b")),
            ("https://github.com", Remote::Unknown),
            ("https:///acme/shop", Remote::Unknown),
            ("ext::sh -c evil", Remote::Unknown),
            ("git@host:../../etc", Remote::Unknown),
            ("", Remote::Unknown),
        ] {
            assert_eq!(parse_remote(url, Path::new("/w")), expected, "{url}");
        }
        assert_eq!(parse_remote(&format!("https://h/{}", "a".repeat(300)), Path::new("/w")), Remote::Unknown);
        let mapped = Remote::Hosted("::1/acme/shop".to_owned());
        assert_eq!(parse_remote("ssh://git@[::1]:22/acme/shop", Path::new("/w")), mapped);
    }
}
