//! TLS to a real server: what each `sslmode` makes of a certificate, and of a server without one.

use store::{MigrateOptions, PostgresOptions, migrate_postgres, open_postgres};

use crate::postgres::{Cluster, connect, runtime, superuser};

/// Opens a database and asks the server whether that line is sealed; or says why it did not open.
fn sealed(superuser: &str, url: &str, name: &str) -> Result<bool, String> {
    let join = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{join}application_name={name}");
    let backend = open_postgres(&url, &PostgresOptions::default()).map_err(|error| error.to_string())?;
    let lines = runtime().block_on(async {
        let client = connect(superuser).await;
        let sql = "select s.ssl from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name = $1";
        let rows = client.query(sql, &[&name]).await.expect("asks");
        rows.iter().map(|row| row.get(0)).collect::<Vec<bool>>()
    });
    drop(backend);
    assert!(!lines.is_empty() && lines.iter().all(|sealed| *sealed == lines[0]), "{lines:?}");
    Ok(lines[0])
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn the_line_is_sealed_as_the_url_says() {
    // The system's server: those of the wheel know no TLS.
    let (cluster, admin) = Cluster::start("debian", "tls", &[("INGRAIN_TEST_TLS", "1")]);
    let port = std::fs::read_to_string(cluster.0.join("port")).expect("a port");
    let authority = cluster.0.join("ca.crt").display().to_string();
    let at = |host: &str, query: &str| format!("postgres://postgres@{host}:{}/postgres{query}", port.trim());
    migrate_postgres(&at("localhost", "?sslmode=require"), &MigrateOptions::default()).expect("migrates");
    let check = |host: &str, query: &str, name: &str, expected: Result<bool, &str>| match (
        sealed(&admin, &at(host, query), name),
        expected,
    ) {
        (Ok(sealed), Ok(expected)) => assert_eq!(sealed, expected, "{host} {query}"),
        (Err(error), Err(word)) => assert!(error.contains(word), "{host} {query}: {error}"),
        (answer, _) => panic!("{host} {query}: {answer:?}"),
    };
    let full = format!("?sslmode=verify-full&sslrootcert={authority}");
    check("localhost", "", "default", Ok(true));
    check("localhost", "?sslmode=prefer", "prefer", Ok(true));
    check("localhost", "?sslmode=disable", "disable", Ok(false));
    check("127.0.0.1", "?sslmode=require", "require", Ok(true));
    check("localhost", &full, "full", Ok(true));
    // Not the name in the certificate; not signed by anybody the web knows.
    check("127.0.0.1", &full, "name", Err("not valid for name"));
    check("localhost", "?sslmode=verify-full", "web", Err("UnknownIssuer"));

    superuser(&admin, &["alter system set ssl = off", "select pg_reload_conf()"]);
    while sealed(&admin, &at("localhost", ""), "still") == Ok(true) {}
    check("localhost", "?sslmode=prefer", "unsealed", Ok(false));
    check("localhost", "?sslmode=require", "refused", Err("the server offers no TLS"));
    check("localhost", &full, "refused-too", Err("the server offers no TLS"));
}
