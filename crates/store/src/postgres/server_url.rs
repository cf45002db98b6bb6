//! The URL of a server: address, credentials, and TLS settings (`sslmode`, `sslrootcert`).

use std::net::IpAddr;
use std::time::Duration;

use engine::model::error::StoreError;
use percent_encoding::percent_decode_str;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Connection, Socket};

use super::fault::Fault;
use super::tls::{CertificateTrust, EncryptedStream, Tls};

/// Timeout of one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub(super) struct ServerUrl {
    pub(super) config: Config,
    tls: Tls,
}

impl ServerUrl {
    pub(super) fn parse(text: &str) -> Result<ServerUrl, StoreError> {
        let invalid = |reason: &str| StoreError::Unavailable(format!("the database URL is not valid: {reason}"));
        let UrlParts { url, mode, authorities } = split_url(text);
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| invalid(&error.to_string()))?;
        // A connection that only listens sends nothing, so without keepalives it would not notice a dead server.
        config.connect_timeout(CONNECT_TIMEOUT).keepalives(true);
        if config.get_application_name().is_none() {
            config.application_name("ingrain");
        }
        let (mode, trust) = tls_mode(mode.as_deref(), authorities).map_err(|reason| invalid(&reason))?;
        // As in libpq: a Unix socket is never encrypted.
        let is_local = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_unix_socket);
        config.ssl_mode(if is_local { SslMode::Disable } else { mode });
        Ok(ServerUrl { config, tls: Tls::new(&trust)? })
    }

    pub(super) async fn connect(&self) -> Result<(Client, Connection<Socket, EncryptedStream<Socket>>), Fault> {
        Ok(self.config.connect(self.tls.clone()).await?)
    }

    /// Connects, and drives the connection in a task of its own.
    pub(super) async fn spawn_client(&self) -> Result<Client, Fault> {
        let (client, connection) = self.connect().await?;
        // The result is not needed: after the connection ends, every request of the client fails as closed.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }
}

/// Whether a URL lets texts and passwords cross a network unencrypted: to another machine, without `sslmode=require` or
/// `verify-full`.
pub fn allows_plaintext(url: &str) -> Result<bool, StoreError> {
    let config = ServerUrl::parse(url)?.config;
    let is_remote = |host: &Host| match host {
        Host::Tcp(name) => name != "localhost" && !name.parse().is_ok_and(|address: IpAddr| address.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => false,
    };
    Ok(config.get_ssl_mode() != SslMode::Require && config.get_hosts().iter().any(is_remote))
}

fn is_unix_socket(host: &Host) -> bool {
    match host {
        Host::Tcp(_) => false,
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

struct UrlParts {
    /// Without the TLS parameters, which the driver does not know.
    url: String,
    mode: Option<String>,
    authorities: Option<String>,
}

fn split_url(text: &str) -> UrlParts {
    let (base, query) = text.split_once('?').unwrap_or((text, ""));
    let mut parts = UrlParts { url: String::new(), mode: None, authorities: None };
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let value = |text: &str| Some(percent_decode_str(text).decode_utf8_lossy().into_owned());
        match pair.split_once('=') {
            Some(("sslmode", mode)) => parts.mode = value(mode),
            Some(("sslrootcert", file)) => parts.authorities = value(file),
            _ => rest.push(pair),
        }
    }
    parts.url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    parts
}

fn tls_mode(mode: Option<&str>, authorities: Option<String>) -> Result<(SslMode, CertificateTrust), String> {
    match (mode.unwrap_or("prefer"), authorities) {
        ("verify-full", Some(file)) => Ok((SslMode::Require, CertificateTrust::RootFile(file))),
        ("verify-full", None) => Ok((SslMode::Require, CertificateTrust::WebRoots)),
        // libpq would check the authority but not the host here, which is weaker than it looks.
        (_, Some(_)) => Err("`sslrootcert` needs `sslmode=verify-full`".to_owned()),
        ("disable", None) => Ok((SslMode::Disable, CertificateTrust::AnyCertificate)),
        ("prefer", None) => Ok((SslMode::Prefer, CertificateTrust::AnyCertificate)),
        ("require", None) => Ok((SslMode::Require, CertificateTrust::AnyCertificate)),
        (other, None) => Err(format!("`sslmode` is `{other}`, not `disable`, `prefer`, `require` or `verify-full`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_to_another_machine_that_may_be_plain_is_noticed() {
        for (url, plain) in [
            ("postgres://me@db/x", true),
            ("postgres://me@db/x?sslmode=disable", true),
            ("postgres://me@db/x?sslmode=prefer", true),
            ("postgres://me@db/x?sslmode=require", false),
            ("postgres://me@db/x?sslmode=verify-full", false),
            ("postgres://me@localhost/x?sslmode=disable", false),
            ("postgres://me@127.0.0.1/x", false),
            ("postgres://me@[::1]/x", false),
            ("postgres://me@10.0.0.7/x", true),
            ("postgres://me@/x?host=/tmp/socket", false),
        ] {
            assert_eq!(allows_plaintext(url).expect("a URL"), plain, "{url}");
        }
    }

    #[test]
    fn a_url_says_how_the_line_is_sealed() {
        let check = |url: &str, expected: Result<SslMode, &str>| {
            let parsed = ServerUrl::parse(url).map(|url| url.config.get_ssl_mode());
            match (parsed, expected) {
                (Ok(mode), Ok(expected)) => assert_eq!(mode, expected, "{url}"),
                (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{url}: {error}"),
                (parsed, _) => panic!("{url}: {parsed:?}"),
            }
        };
        check("postgres://me@db/x", Ok(SslMode::Prefer));
        check("postgres://me@db/x?sslmode=disable", Ok(SslMode::Disable));
        check("postgres://me@db/x?sslmode=prefer&application_name=y", Ok(SslMode::Prefer));
        check("postgres://me@db/x?connect_timeout=2&sslmode=require", Ok(SslMode::Require));
        check("postgres://me@db/x?sslmode=verify-full", Ok(SslMode::Require));
        check("postgres://me@/x?host=/tmp/socket&sslmode=require", Ok(SslMode::Disable));
        check("postgres://me@db/x?sslmode=maybe", Err("`maybe`"));
        check("postgres://me@db/x?sslmode=verify-full&sslrootcert=/no/such%20file", Err("/no/such file"));
        check("postgres://me@db/x?sslrootcert=/x", Err("needs `sslmode=verify-full`"));
        check("postgres://me@db/x?nonsense=1", Err("not valid"));
    }
}
