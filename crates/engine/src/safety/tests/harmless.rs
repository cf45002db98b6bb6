//! False alarms on harmless lines with random values: hashes, ids, digests, lock files, public keys, code, prose. The
//! values come from a generator with fixed seeds.
use super::super::shape::{self, ShapePart, UUID_CHARS};
use super::super::{Finding, inspect};

/// Lines of harmless notes; `{h40}` and the like (the language of `shape`) are filled anew in every round.
const LINES: &[&str] = &[
    // Commits, tags, branches.
    "Fixed in {h40}, released on Tuesday.",
    "git bisect says {h12} is the first bad commit",
    "commit {h40}\nAuthor: Ana <ana@example.com>",
    "* {h8} (HEAD -> main) Merge pull request #{d4} from acme/fix-{d3}",
    "Reverts {h7}..{h7} on the release branch",
    "index {h7}..{h7} 100644",
    "cherry-picked from {h40} (key change: retry twice)",
    "uses: actions/checkout@{h40} # v4.2.2",
    "rev: {h40}  # frozen: v{d1}.{d2}.{d1}",
    // Digests and integrity.
    "image: registry.example.com/orders/api@sha256:{h64}",
    "sha256sum: {h64}  ingrain-linux-amd64.tar.gz",
    "{h64}  dist/app.js",
    "md5({d3}.csv) = {h32}",
    "SHA1 fingerprint {h40}",
    "\"integrity\": \"sha512-{b86}==\"",
    "github.com/spf13/cobra v1.{d1}.{d1} h1:{b43}=",
    "checksum = \"{h64}\"",
    "--hash=sha256:{h64} \\",
    "ETag: \"{h32}\"",
    "ETag: W/\"{h8}-{b27}\"",
    "digest: sha384-{b64}",
    "narHash = \"sha256-{b43}=\";",
    "/nix/store/{l32}-openssl-3.0.{d2}",
    "content hash {h16}, cache hit",
    "the hash of the artefact is {h64}",
    "Blob {h40} is {d5} bytes",
    "layer {h12}: Pull complete",
    "resolved \"https://registry.npmjs.org/left-pad/-/left-pad-1.{d1}.{d1}.tgz#{h40}\"",
    // Identifiers of every kind.
    "request id {uuid}, see the trace",
    "trace_id={h32} span_id={h16} took {d3}ms",
    "traceparent: 00-{h32}-{h16}-01",
    "x-request-id: {uuid}",
    "x-amzn-trace-id: Root=1-{h8}-{h24}",
    "tenant {uuid} was moved to shard {d2}",
    "\"id\": \"{uuid}\", \"name\": \"orders\"",
    "order_id = {d12}",
    "user {d8} logged in from 10.{d2}.{d2}.{d2}",
    "pod orders-api-{l9}-{l5} was OOMKilled",
    "job nightly-export-{d8} failed on node ip-10-0-{d2}-{d2}.ec2.internal",
    "instance i-{h17} in subnet-{h17}",
    "vol-{h17} attached to i-{h17}",
    "arn:aws:iam::{d12}:role/deploy",
    "arn:aws:secretsmanager:eu-west-1:{d12}:secret:orders/db-{w6}",
    "arn:aws:kms:eu-west-1:{d12}:key/{uuid}",
    "projects/acme-{d6}/secrets/db-password/versions/{d2}",
    "/subscriptions/{uuid}/resourceGroups/rg-{d3}/providers/Microsoft.KeyVault/vaults/kv-{l6}",
    "ocid1.instance.oc1.eu-frankfurt-1.{l60}",
    "Sentry event {h32} is grouped under ORDERS-{d3}",
    "cus_{w14} paid in_{w24}",
    "Stripe payment pi_{w24} succeeded",
    "run_{w24} of thread_{w24} expired",
    "msg_{w24} from chatcmpl-{w29}",
    "C0{u9} is the incident channel, U0{u9} is Ana",
    "ticket OPS-{d4}, page P{u6}",
    "ULID 01{u24} sorts by time",
    "nanoid of the board: {s21}",
    "YouTube video id {s11}",
    "spotify:track:{w22}",
    "tweet {d19} was deleted",
    "S-1-5-21-{d10}-{d10}-{d9}-{d4}",
    "MAC 00:1b:{h2}:{h2}:{h2}:{h2}",
    "serial number {u12}, asset tag {d6}",
    "bundle id com.acme.orders, team {u10}",
    "order number {u3}-{d7}-{d7}",
    "IBAN DE{d2} {d4} {d4} {d4} {d4} {d2}",
    "tracking number 1Z{u6}{d10}",
    "invoice INV-2026-{d6}",
    "build {d5}, artefact app-{d1}.{d2}.{d1}-{h7}.apk",
    "version 2.{d1}.{d2}+build.{h7}",
    "topic orders-{h8}-changelog has {d2} partitions",
    "Kafka offset {d9} of partition {d1}",
    "consumer group connect-{uuid}",
    "lock file /var/run/app-{h8}.pid",
    "core.{d5}.{d10} was {d3} MB",
    "nonce {h16}, sequence {d6}",
    // Keys that open nothing.
    "cache_key: orders:{d6}:{h16}",
    "idempotency_key={uuid}",
    "partition key is tenant_{d4}",
    "sort_key = \"ORDER#{d8}\"",
    "primary key ({d4}, {d6}) violated",
    "s3 key exports/2026/03/{h32}.parquet",
    "key: {h8}",
    "the map is keyed by {h40}",
    "routing_key = orders.created.{d3}",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} ana@laptop",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB{b300}== deploy",
    "SHA256:{b43} ana@laptop (ED25519)",
    "|1|{b27}=|{b27}= ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43}",
    "age1{l58} is the recipient",
    "publicKey: {b43}=  # of the peer",
    "wg peer public key {b43}=",
    "\"kty\": \"EC\", \"x\": \"{s43}\", \"y\": \"{s43}\"",
    "v=DKIM1; k=rsa; p={b216}",
    "npub1{l58}",
    "pk_live_{w24} goes into the page",
    "pk_test_{w24} is the publishable key",
    "-----BEGIN CERTIFICATE-----\nMIID{b60}\n{b64}\n{b64}\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB{b60}\n{b64}\n-----END PUBLIC KEY-----",
    "$2b$12${b53}",
    "$argon2id$v=19$m=65536,t=3,p=4${b22}${b43}",
    "root:$6${w8}${b86}:19000:0:99999:7:::",
    "pbkdf2_sha256$600000${w22}${b43}=",
    "secret: ENC[AES256_GCM,data:{b24}=,iv:{b43}=,tag:{b22}==,type:str]",
    "password: vault:kv/orders#password",
    "password: ${DB_PASSWORD}",
    "token: {{ .Values.apiToken }}",
    "api_key = os.environ[\"ORDERS_API_KEY\"]",
    "secretKeyRef: {name: orders-db, key: password}",
    "max_tokens: {d4}, completion_tokens: {d3}",
    "token_count={d5} for the last run",
    "password_reset_url=https://example.com/reset",
    "the secret is kept in 1Password, item {d4}",
    // Chains.
    "0x{h40} holds {d2} ETH",
    "tx 0x{h64} was mined in block {d8}",
    "Qm{544} is pinned",
    "bafybeig{l51}",
    // Code and data.
    "!function(e,t){var n=e[{d2}],r={h6};return t(n)}(window,{d3});",
    ".a{d1}b{display:flex}.c{d2}{color:#{h6};margin:0 {d1}px}",
    "const chunk{d3} = () => import('./assets/index-{h8}.js');",
    "<script src=\"/static/js/main.{h8}.chunk.js\"></script>",
    "data:image/png;base64,iVBORw0KGgo{b200}==",
    "url(data:font/woff2;base64,d09GMgABAAAAA{b120})",
    "eyes = [{d3}, {d3}, {d3}, {d3}]; hands = 0x{h4}",
    "#{h6} on #{h6}, contrast 7.{d1}",
    "lat {d2}.{d6}, lon {d1}.{d6}",
    "p50 {d2} ms, p99 {d3} ms, {d5} rps",
    "2026-03-{d2}T08:{d2}:00Z deploy of v{d1}.{d2}.{d1}",
    "SELECT * FROM orders WHERE id = '{uuid}' AND shard = {d2};",
    "curl -s https://api.example.com/v1/orders/{uuid} | jq .status",
    "https://grafana.example.com/d/{w9}/orders?from={d13}&to={d13}",
    "https://docs.google.com/document/d/1{s43}/edit",
    "https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups/log-group/{w12}",
    "Cookie banner id {h8}, variant {a1}",
    "Content-Security-Policy: script-src 'sha256-{b43}='",
    "<1773216000.{d6}.{w12}@mail.example.com>",
    "boundary=\"----=_Part_{d6}_{d9}.{d13}\"",
    "memory address 0x7f{h10} in libc.so.6+0x{h5}",
    "#0  0x0000{h12} in worker::run () at src/worker.rs:{d3}",
    "PID {d5} holds the lock for {d3} s",
    "Docker ID {h12} exited with 137",
    "helm release orders-api-{d2}, chart 1.{d1}.{d1}, revision {d2}",
    "cluster-{l6}.eu-west-1.eks.amazonaws.com is up",
    "db-{l8}.c{l10}.eu-west-1.rds.amazonaws.com:5432 is the replica",
    "z{d1}wq{d2}.cloudfront.net serves the assets",
    // Prose in several languages.
    "Die Freischaltung des Zugangsschlüssels übernimmt das Plattformteam am {d2}. März.",
    "Das Kennwort wird im Tresor verwahrt und alle {d2} Tage gewechselt.",
    "Le mot de passe est conservé dans le coffre, jamais dans une note.",
    "La clave se guarda en el gestor y caduca a los {d2} días.",
    "A senha fica no cofre; ninguém a escreve em notas.",
    "La chiave di accesso scade ogni {d2} giorni.",
    "Het wachtwoord staat in de kluis, niet in dit document.",
    "Hasło jest przechowywane w sejfie i zmieniane co {d2} dni.",
    "Пароль хранится в сейфе и меняется раз в {d2} дней.",
    "密码保存在保险库中,每{d2}天更换一次。",
    "パスワードは金庫に保管し、{d2}日ごとに変更します。",
    "비밀번호는 금고에 보관하고 {d2}일마다 바꿉니다.",
    "كلمة المرور محفوظة في الخزنة وتتغير كل {d2} يوما.",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen ist ein langes Wort.",
    "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch is a village.",
];

/// Rounds: each line is scanned with this many different values.
const ROUNDS: u64 = 6;
/// Share of harmless lines that may be blocked.
const ALARMS_MAX_PER_MILLE: usize = 5;

#[test]
fn what_only_looks_drawn_passes() {
    let mut alarms = Vec::new();
    for (at, line) in LINES.iter().enumerate() {
        for round in 0..ROUNDS {
            let text = fill(line, &mut Chance(at as u64 * ROUNDS + round + 1));
            let found = inspect(&text);
            if !found.is_empty() {
                alarms.push(describe_alarm(&text, &found));
            }
        }
    }
    let texts = LINES.len() * ROUNDS as usize;
    assert!(alarms.len() * 1000 <= texts * ALARMS_MAX_PER_MILLE, "{} of {texts}\n{}", alarms.len(), alarms.join("\n"));
}

fn describe_alarm(text: &str, found: &[Finding]) -> String {
    let rules: Vec<String> =
        found.iter().map(|finding| format!("{} `{}`", finding.rule, &text[finding.start..finding.end])).collect();
    format!("{text:?}: {}", rules.join(", "))
}

/// A linear congruential generator (Knuth's MMIX): the same values on every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// The line with every run of the shape language replaced by random characters; other braces stay.
fn fill(line: &str, chance: &mut Chance) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let close = rest[open..].find('}').map_or(rest.len(), |at| open + at + 1);
        let inner = &rest[open + 1..close.max(open + 2) - 1];
        let is_run = inner == "uuid"
            || inner.len() > 1 && inner.is_char_boundary(1) && inner[1..].bytes().all(|byte| byte.is_ascii_digit());
        if !is_run {
            out.push('{');
            rest = &rest[open + 1..];
            continue;
        }
        for part in shape::parse(&rest[open..close]) {
            draw(&part, chance, &mut out);
        }
        rest = &rest[close..];
    }
    out + rest
}

fn draw(part: &ShapePart, chance: &mut Chance, out: &mut String) {
    let pick = |from: &[u8], chance: &mut Chance| char::from(from[chance.below(from.len())]);
    match part {
        ShapePart::Run { class, least, .. } => {
            let letters: Vec<u8> = (b'!'..=b'~').filter(|&letter| class.contains(letter)).collect();
            (0..*least).for_each(|_| out.push(pick(&letters, chance)));
        }
        ShapePart::Uuid => (0..UUID_CHARS).for_each(|at| match at {
            8 | 13 | 18 | 23 => out.push('-'),
            14 => out.push('4'),
            _ => out.push(pick(b"0123456789abcdef", chance)),
        }),
        ShapePart::Literal(_) | ShapePart::Choice(_) => {}
    }
}
