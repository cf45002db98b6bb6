//! Secrets that need more than a prefix: each a pattern around an anchor word.
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::Severity;

/// What the captured value must be before the pattern is believed.
#[derive(Clone, Copy)]
pub(super) enum Check {
    /// The pattern alone is proof.
    None,
    /// Not a placeholder or a reference.
    Real,
    /// Looks drawn by a machine.
    Random,
    /// Could be a person's password: kinds of characters mixed, not only words.
    Password,
    /// Base64 of `user:password`.
    BasicPair,
}

/// A pattern and where to look for it.
pub(super) struct Pattern {
    pub(super) name: &'static str,
    pub(super) finds: &'static str,
    pub(super) severity: Severity,
    pub(super) anchors: &'static [&'static str],
    /// Bytes before and after the anchor in which the pattern must lie.
    pub(super) window: (usize, usize),
    /// Group `s`, if named, is the secret itself.
    pub(super) pattern: &'static str,
    pub(super) check: Check,
    pub(super) positive: &'static str,
    pub(super) negative: &'static str,
}

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern {
        name: "jwt",
        finds: "JSON Web Tokens, signed or encrypted",
        severity: Severity::Critical,
        anchors: &["eyJ"],
        window: (0, 4096),
        pattern: r"^eyJ[A-Za-z0-9_\-]{8,}\.(?:eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*|[A-Za-z0-9_\-]{20,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}(?:\.[A-Za-z0-9_\-]{10,})?)",
        check: Check::None,
        positive: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3MzE1NjExNDgwIn0.{s43}",
        negative: "three-part tokens start with eyJ... and are blocked",
    },
    Pattern {
        name: "bearer_token",
        finds: "values of Bearer and Token authorisation headers",
        severity: Severity::Critical,
        anchors: &["bearer ", "bearer\t", "bearer:", "bearer\""],
        window: (0, 1024),
        pattern: r#"^(?i:bearer)[ \t:"']{1,4}(?P<s>[A-Za-z0-9_.~+/=|\-]{12,})"#,
        check: Check::Random,
        positive: "Authorization: Bearer {s43}",
        negative: "Authorization: Bearer <token>",
    },
    Pattern {
        name: "authorization_header",
        finds: "other authorisation headers",
        severity: Severity::Critical,
        anchors: &["authorization"],
        window: (0, 1024),
        pattern: r#"^(?i:authorization)["']?[ \t]*[:=,][ \t]*["']?(?:(?i:token|apikey|api-key|key|digest|negotiate|ntlm|ssws|genie\w*|hmac\S*|splunk|pve\w*=\S+)[ \t]+)?["']?(?P<s>[A-Za-z0-9_.~+/=:@!|\-]{16,})"#,
        check: Check::Random,
        positive: "Authorization: Token {h40}",
        negative: "Authorization: Token $API_TOKEN",
    },
    Pattern {
        name: "basic_auth",
        finds: "Basic authorisation values that decode to a user and a password",
        severity: Severity::Critical,
        anchors: &["basic "],
        window: (0, 512),
        pattern: r"^(?i:basic)[ \t]+(?P<s>[A-Za-z0-9+/_\-]{8,}={0,2})",
        check: Check::BasicPair,
        positive: "Authorization: Basic b3BzOkt4N3ZRMm1MOXJUNA==",
        negative: "Authorization: Basic dXNlcjpwYXNzd29yZA==",
    },
    Pattern {
        name: "registry_auth",
        finds: "registry credentials in Docker, npm and similar configuration",
        severity: Severity::Critical,
        anchors: &["\"auth\"", "_auth", "\"identitytoken\""],
        window: (0, 700),
        pattern: r#"^(?:"auth"\s*:\s*"(?P<s>[A-Za-z0-9+/]{8,}={0,2})"|_auth(?:Token)?\s*=\s*"?(?P<t>[A-Za-z0-9+/=_.~\-]{8,})|"identitytoken"\s*:\s*"(?P<u>[^"\s]{16,})")"#,
        check: Check::Real,
        positive: "{\"auths\": {\"registry.example.org\": {\"auth\": \"b3BzOkt4N3ZRMm1MOXJUNA==\"}}}",
        negative: "//registry.example.org/:_authToken=${NPM_TOKEN}",
    },
    Pattern {
        name: "presigned_url",
        finds: "addresses that carry their own permission (presigned and SAS addresses)",
        severity: Severity::Critical,
        anchors: &["X-Amz-Signature=", "X-Goog-Signature=", "sig=", "&Signature=", "?Signature=", "x-oss-signature=", "q-signature=", "X-Tos-Signature="],
        window: (900, 600),
        pattern: r#"(?:https?://[^\s"'<>`]*[?&]|[?&]?(?:sv|se|sp|sr|st|ss|srt|spr|X-Amz-[A-Za-z]+)=[^\s"'<>`]*&)(?:(?i:X-Amz-Signature|X-Goog-Signature|x-oss-signature|q-signature|X-Tos-Signature|Signature)=[A-Za-z0-9%+/=~_\-]{20,}|sig=[A-Za-z0-9%+/=_\-]{20,})[^\s"'<>`]*"#,
        check: Check::None,
        positive: "https://acme.blob.core.windows.net/x?sv=2022-11-02&sp=rl&se=2027-01-01&sig={w43}%3D",
        negative: "https://acme.example/page?sig=short&lang=en",
    },
    Pattern {
        name: "oracle_credentials",
        finds: "Oracle and SQL command-line logins",
        severity: Severity::High,
        anchors: &["jdbc:oracle", "sqlplus ", "sqlcmd "],
        window: (0, 300),
        pattern: r"^(?:jdbc:oracle:[a-z]+:[A-Za-z0-9_]+/(?P<s>[^@\s/]{4,})@|sqlplus[ \t]+(?:-[sSlL]+[ \t]+)*[A-Za-z0-9_]+/(?P<t>[^@\s/]{4,})@|sqlcmd[^\n]*[ \t]-P[ \t]*(?P<u>\S{4,}))",
        check: Check::Real,
        positive: "jdbc:oracle:thin:scott/Kx7vQ2mL@db.example.org:1521/orcl",
        negative: "jdbc:oracle:thin:@db.example.org:1521/orcl",
    },
    Pattern {
        name: "command_password",
        finds: "passwords given to programs on the command line",
        severity: Severity::High,
        anchors: &[
            "mysql", "mariadb", "sshpass", "redis-cli", "ldapsearch", "ldapadd", "ldapmodify", "docker login", "podman login", "helm registry login", "htpasswd", "smbclient", "mount -t cifs", "net use", "az login", "openssl ",
            "mongosh", "mongodump", "mongorestore", "mongo ", "curl ", "wget ", "http -a", "https -a", "xfreerdp", "rdesktop", "winexe", "psexec", "evil-winrm", "crackmapexec", "gpg ", "7z ", "unzip ", "zip -", "vault login", "vault kv put",
            "kinit", "svn ", "lftp ", "ftp ", "nmcli ", "keytool ", "ipmitool ", "snmpwalk ", "mosquitto_", "rabbitmqctl ", "chpasswd", "oc login", "argocd login", "cf login", "bw unlock", "skopeo ", "crane auth", "oras login", "twine upload", "cadaver", "isql ", "clickhouse-client", "influx ", "cqlsh ", "nats ", "kcat ", "wpa_passphrase",
        ],
        window: (0, 400),
        pattern: concat!(
            r#"^(?:"#,
            r#"(?:mysql|mariadb)[a-z\-]*[ \t][^\n|;]*?(?:^|[ \t])-p(?P<a>[^\s'"=\-][^\s'"]{3,}|'[^'\n]{4,}'|"[^"\n]{4,}")"#,
            r#"|sshpass[ \t]+-p[ \t]*['"]?(?P<b>[^\s'"]{4,})"#,
            r#"|redis-cli[^\n|;]*?[ \t](?:-a|--pass)[ \t]+['"]?(?P<c>[^\s'"]{4,})"#,
            r#"|ldap(?:search|add|modify)[^\n|;]*?[ \t]-w[ \t]+['"]?(?P<d>[^\s'"]{4,})"#,
            r#"|(?:(?:docker|podman|helm registry|oc|cf|oras|argocd|skopeo|crane auth)[ \t]+)?login[^\n|;]*?[ \t](?:-p|--password)[= \t]+['"]?(?P<e>[^\s'"]{4,})"#,
            r#"|(?:docker|podman|helm registry|oc|cf|oras|argocd|az|crane auth|skopeo)[ \t]+login[^\n|;]*?[ \t](?:-p|--password|--token)[= \t]+['"]?(?P<f>[^\s'"]{4,})"#,
            r#"|htpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*[ \t]+\S+[ \t]+\S+[ \t]+['"]?(?P<g>[^\s'"]{4,})"#,
            r#"|smbclient[^\n|;]*?[ \t]-U[ \t]*['"]?[^\s'"%]+%(?P<h>[^\s'"]{4,})"#,
            r#"|net use[^\n]*?/user:\S+[ \t]+(?P<i>[^\s/*]{4,})"#,
            r#"|openssl[ \t][^\n]*?[ \t]-(?:pass|passin|passout|k)[ \t]+(?:pass:)?['"]?(?P<j>[^\s'":]{4,})"#,
            r#"|mongo[a-z]*[ \t][^\n|;]*?[ \t]-p[ \t]*['"]?(?P<k>[^\s'"]{4,})"#,
            r#"|(?:curl|http|https)[ \t][^\n|;]*?(?:-u|--user|--proxy-user|-a|-U)[= \t]*['"]?[^\s'":]+:(?P<l>[^\s'"]{4,})"#,
            r#"|wget[ \t][^\n|;]*?--(?:http-|ftp-)?password=['"]?(?P<m>[^\s'"]{4,})"#,
            r#"|(?:xfreerdp|rdesktop)[ \t][^\n|;]*?(?:/p:|[ \t]-p[ \t]+)['"]?(?P<n>[^\s'"]{4,})"#,
            r#"|(?:winexe|psexec|evil-winrm|crackmapexec|ipmitool|svn|cadaver|mosquitto_[a-z]+|clickhouse-client|influx|cqlsh|twine upload)[^\n|;]*?[ \t](?:-p|-P|--password|-password)[= \t]+['"]?(?P<o>[^\s'"]{4,})"#,
            r#"|(?:7z|unzip|zip)[ \t][^\n|;]*?[ \t](?:-p|-P[ \t]+)['"]?(?P<p>[^\s'"]{6,})"#,
            r#"|gpg[ \t][^\n|;]*?--passphrase[= \t]+['"]?(?P<q>[^\s'"]{4,})"#,
            r#"|vault login[ \t]+(?:-\S+[ \t]+)*(?:token=)?['"]?(?P<r>[^\s'"=\-][^\s'"=]{8,})"#,
            r#"|keytool[ \t][^\n]*?-(?:storepass|keypass)[ \t]+['"]?(?P<t>[^\s'"]{4,})"#,
            r#"|lftp[ \t][^\n|;]*?-u[ \t]+[^\s,]+,(?P<u>[^\s'"]{4,})"#,
            r#"|(?:bw unlock|rabbitmqctl (?:add_user|change_password)[ \t]+\S+|wpa_passphrase[ \t]+\S+)[ \t]+['"]?(?P<v>[^\s'"\-][^\s'"]{5,})"#,
            r#"|nmcli[ \t][^\n]*?password[ \t]+['"]?(?P<w>[^\s'"]{6,})"#,
            r#"|snmpwalk[ \t][^\n]*?-(?:A|X)[ \t]+['"]?(?P<x>[^\s'"]{6,})"#,
            r#")"#,
        ),
        check: Check::Real,
        positive: "mysql -h db -u root -pKx7vQ2mL9 orders",
        negative: "mysql -h db -u root -p orders",
    },
    Pattern {
        name: "netrc",
        finds: "logins in .netrc files",
        severity: Severity::High,
        anchors: &["machine ", "login "],
        window: (0, 300),
        pattern: r"^(?:machine[ \t]+\S+\s+)?login[ \t]+\S+\s+password[ \t]+(?P<s>\S{4,})",
        check: Check::Real,
        positive: "machine api.example.org login ops password Kx7vQ2mL9",
        negative: "machine api.example.org login ops password <password>",
    },
    Pattern {
        name: "pgpass",
        finds: "lines of .pgpass files",
        severity: Severity::High,
        anchors: &[":5432:", ":5433:", ":6432:", ":*:", ":26257:", ":5439:"],
        window: (120, 200),
        pattern: r"(?m)^[ \t>`]*[A-Za-z0-9_.*\-]+:(?:[0-9]{2,5}|\*):[A-Za-z0-9_*\-]+:[A-Za-z0-9_.*@\-]+:(?P<s>[^\s:`]{4,})",
        check: Check::Real,
        positive: "db.example.org:5432:orders:app:Kx7vQ2mL9",
        negative: "db.example.org:5432:orders:app:<password>",
    },
    Pattern {
        name: "terraform_state_secret",
        finds: "generated passwords in Terraform state",
        severity: Severity::Critical,
        anchors: &["random_password", "random_string", "tls_private_key", "\"sensitive_attributes\""],
        window: (200, 1200),
        pattern: r#""(?:result|bcrypt_hash|private_key_pem|secret_string|master_password)"\s*:\s*"(?P<s>[^"\s]{8,})""#,
        check: Check::Real,
        positive: "\"type\": \"random_password\", \"instances\": [{\"attributes\": {\"result\": \"Kx7vQ2mL9rT4\"}}]",
        negative: "resource \"random_password\" \"db\" { length = 24 }",
    },
    Pattern {
        name: "jwk_private",
        finds: "private JSON Web Keys",
        severity: Severity::Critical,
        anchors: &["\"kty\""],
        window: (1500, 3000),
        pattern: r#"(?s)"kty"\s*:\s*"(?:RSA|EC|OKP)".*?"d"\s*:\s*"(?P<s>[A-Za-z0-9_\-]{20,})"|"d"\s*:\s*"(?P<t>[A-Za-z0-9_\-]{20,})".*?"kty"|"k"\s*:\s*"(?P<u>[A-Za-z0-9_\-]{16,})".{0,200}?"kty"\s*:\s*"oct"|"kty"\s*:\s*"oct".{0,200}?"k"\s*:\s*"(?P<v>[A-Za-z0-9_\-]{16,})""#,
        check: Check::Random,
        positive: "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"{s43}\"}",
        negative: "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"{s43}\"}",
    },
    Pattern {
        name: "private_key_body",
        finds: "private keys whose header was cut off",
        severity: Severity::Critical,
        anchors: &[
            "MIIEpAIBAAKCAQEA", "MIIEowIBAAKCAQEA", "MIIEogIBAAKCAQEA", "MIIJKAIBAAKCAgEA", "MIIJKQIBAAKCAgEA", "MIICXAIBAAKBgQ", "MIICXQIBAAKBgQ", "IBADANBgkqhkiG9w0BAQEFAASC", "AIBADANBgkqhkiG9w0BAQEFAASC",
            "MIGHAgEAMBMGByqGSM49", "MHcCAQEEI", "MC4CAQAwBQYDK2VwBCIEI", "b3BlbnNzaC1rZXktdjEAAAAA", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0t", "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ",
        ],
        window: (8, 6000),
        pattern: r"[A-Za-z0-9+/]{0,8}(?:MII|MIG|MHc|MC4|b3Bl|LS0t)[A-Za-z0-9+/=\s]{20,}",
        check: Check::None,
        positive: "MC4CAQAwBQYDK2VwBCIEI{b44}",
        negative: "The file starts with MII and ends with two equals signs.",
    },
    Pattern {
        name: "putty_private_key",
        finds: "PuTTY private keys",
        severity: Severity::Critical,
        anchors: &["Private-Lines:"],
        window: (2000, 4000),
        pattern: r"(?s)(?:PuTTY-User-Key-File-\d.*?)?Private-Lines:\s*\d+\s+[A-Za-z0-9+/=\s]{20,}",
        check: Check::None,
        positive: "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n{b44}\n",
        negative: "PuTTY shows a line Private-Lines: in its key file.",
    },
    Pattern {
        name: "openvpn_static_key",
        finds: "OpenVPN static keys",
        severity: Severity::Critical,
        anchors: &["OpenVPN Static key"],
        window: (20, 2000),
        pattern: r"OpenVPN Static key V1-----\s*(?:[0-9a-f]{32}\s*){2,}",
        check: Check::None,
        positive: "-----BEGIN OpenVPN Static key V1-----\n{h32}\n{h32}\n",
        negative: "Create an OpenVPN Static key with openvpn --genkey.",
    },
    Pattern {
        name: "seed_phrase",
        finds: "wallet recovery phrases",
        severity: Severity::Critical,
        anchors: &["mnemonic", "seed phrase", "recovery phrase", "seedphrase", "seed words", "recovery words"],
        window: (0, 400),
        pattern: r#"^(?i:mnemonic|seed phrase|recovery phrase|seedphrase|seed words|recovery words)[^:=\n]{0,30}?(?:[:=]|[ \t]is)[ \t]*["'`]?(?P<s>[a-z]{3,8}(?:[ \t,]+[a-z]{3,8}){11,23})["'`.\n]"#,
        check: Check::None,
        positive: "seed phrase: \"legal winner thank year wave sausage worth useful legal winner thank yellow\"",
        negative: "The seed phrase is written on paper and kept in the safe.",
    },
    Pattern {
        name: "session_cookie",
        finds: "session cookies",
        severity: Severity::High,
        anchors: &["cookie:", "jsessionid=", "phpsessid=", "sessionid=", "session_id=", "connect.sid=", "asp.net_sessionid=", "laravel_session=", "_session=", "auth_token=", "li_at=", ".aspnetcore"],
        window: (0, 600),
        pattern: r#"^(?i:(?:set-)?cookie:[^\n]*?)?(?i:[A-Za-z0-9_.\-]*(?:sess|sid|auth|token|jwt|li_at|remember|\.aspnetcore)[A-Za-z0-9_.\-]*)=["']?(?P<s>[A-Za-z0-9%+/=_.~\-]{20,})"#,
        check: Check::Random,
        positive: "Cookie: lang=en; sessionid={l32}",
        negative: "Cookie: lang=en; theme=dark",
    },
    Pattern {
        name: "answered_secret",
        finds: "values given in answer to a question for a secret",
        severity: Severity::High,
        anchors: &["i used ", "i use ", "we use ", "we used ", "here it is", "here you go"],
        window: (200, 300),
        pattern: r#"(?i:pass(?:word|phrase|code)?|pwd|secret|token|key|credential|pat|webhook)s?\b[^\n]{0,60}\?[ \t"']*\r?\n[^\n]{0,40}?(?i:i used?|we used?|here (?:it is|you go))[:,]?[ \t]+[`"']?(?P<s>[^\s`"']{8,})"#,
        check: Check::Password,
        positive: "user: which wifi password do you use?\nassistant: I used Kx7v-Q2mL9",
        negative: "user: which wifi password do you use?\nassistant: I used the-one-from-the-vault",
    },
    Pattern {
        name: "sql_password",
        finds: "passwords in SQL statements",
        severity: Severity::High,
        anchors: &["identified by", "identified with", "with password", "set password", "password '", "encrypted password"],
        window: (0, 200),
        pattern: r#"^(?i:identified[ \t]+(?:with[ \t]+\S+[ \t]+)?by|(?:with[ \t]+|set[ \t]+)?(?:encrypted[ \t]+)?password)(?i:[ \t]+for[ \t]+\S+)?[ \t]*=?[ \t]*(?i:password\()?['"](?P<s>[^'"\n]{4,})['"]"#,
        check: Check::Real,
        positive: "create user app identified by 'Kx7vQ2mL9'",
        negative: "alter user app with password '<password>'",
    },
];

/// The compiled patterns, each built when its anchor is first seen.
pub(super) struct Lazy(OnceLock<Regex>);

impl Lazy {
    pub(super) const fn new() -> Self {
        Lazy(OnceLock::new())
    }

    pub(super) fn get(&self, pattern: &str) -> &Regex {
        // INVARIANT: every pattern in the tables compiles; the tables' tests build them all.
        self.0.get_or_init(|| RegexBuilder::new(pattern).unicode(false).build().expect("a pattern of the tables"))
    }
}
