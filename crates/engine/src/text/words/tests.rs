//! Tests of indexing and queries.
use proptest::prelude::*;

use super::*;

fn content(text: &str) -> IndexedWords {
    index_fields(&IndexedFields { content: text, ..IndexedFields::default() })
}

/// The best weight among the query's terms that the memory holds; 0 when it is not found.
fn found(memory: &str, asked: &str) -> f32 {
    let words = content(memory);
    parse_query(asked)
        .terms
        .iter()
        .filter(|term| words.term_frequency(term.term) > 0)
        .map(|term| term.weight)
        .fold(0.0, f32::max)
}

#[test]
fn memories_are_found_the_way_people_write() {
    let check = |memory: &str, asked: &str| assert!(found(memory, asked) >= 0.7, "{asked} should find {memory}");
    check("nginx crashed twice", "why does nginx keep crashing?");
    check("Restart deployment/web after the change", "deployment/web");
    check("Restart deployment/web after the change", "web");
    check("connection failed: ERR_CONN_RESET", "err_conn_reset");
    check("connection failed: ERR_CONN_RESET", "errConnReset");
    check("the configmap nginx-conf is wrong", "nginx_conf");
    check("the configmap nginx-conf is wrong", "nginxConf");
    check("edit /etc/nginx/nginx.conf first", "nginx.conf");
    check("edit /etc/nginx/nginx.conf first", "etc/nginx/nginx.conf.");
    check("upgraded to v1.2.3", "1.2.3");
    check("upgraded to v1.25.3", "which 1.25?");
    check("host 10.0.0.1:8080 is down", "10.0.0.1");
    check("rustc says E0432", "(E0432)");
    check("set maxIdleConns to 5", "max idle conns");
    check("set maxIdleConns to 5", "MAX_IDLE_CONNS");
    check("on-call rota", "oncall");
    check("web01 is drained", "web");
    check("written in C++", "c++");
    check("Caroline's dog", "caroline");
    check("ask the IT department", "IT");
    check("café in Zürich", "CAFE in zurich");
    check("ｎｇｉｎｘ ﬁx", "nginx fix");
    check("Straße gesperrt", "strasse");
    check("我们下周去东京旅行", "东京");
    check("我们下周去东京旅行", "什么时候去东京旅行？");
    check("我家的猫", "猫");
    check("データベースの接続が切れた", "データベース接続");
    check("서버가 죽었다", "서버를 재시작");
    check("เซิร์ฟเวอร์ล่ม", "เซิร์ฟเวอร์");
    check("сервер упал", "Сервер");
    check("it is what it is", "what is it");
}

#[test]
fn compounds_are_found_by_their_parts_at_a_low_weight() {
    let check = |memory: &str, asked: &str| {
        let weight = found(memory, asked);
        assert!(weight > 0.0 && weight < 0.9, "{asked} finds {memory} at {weight}");
    };
    check("Die Datenbankverbindung ist abgebrochen", "Verbindung");
    check("Die Datenbankverbindung ist abgebrochen", "Datenbank");
    check("Verbindungen prüfen", "Verbindung");
    check("Verbindung zur Datenbank", "Datenbankverbindung");
    check("Grosse Stoerung im Netz", "Störung");
    check("Große Störung im Netz", "Stoerung");
    check("the loadbalancer is flapping", "balancer");
}

#[test]
fn what_is_not_there_is_not_found() {
    let check = |memory: &str, asked: &str| assert!(found(memory, asked) == 0.0, "{asked} must not find {memory}");
    check("the server is down", "is the");
    check("restart the web tier", "database");
    check("communication broke down", "comm");
    check("v1.2.3", "2");
    check("我们下周去东京旅行", "京下");
    check("", "anything");
    check("anything", "");
}

#[test]
fn a_query_says_each_thing_once_and_not_too_much() {
    assert_eq!(parse_query("nginx, nginx and NGINX").terms.iter().filter(|term| term.weight == 1.0).count(), 1);
    assert_eq!(parse_query("").terms, []);
    assert_eq!(parse_query("?!").terms, []);
    let page = (0..1000).map(|at| format!("word{at} ")).collect::<String>();
    assert_eq!(parse_query(&page).terms.len(), QUERY_TERMS_MAX);
    assert!(parse_query("see deployment/web").terms.iter().any(|term| term.exact));
}

#[test]
fn chosen_fields_count_more_and_expansions_lengthen_nothing() {
    let tags = ["nginx".to_owned()];
    let words = index_fields(&IndexedFields { content: "nginx restarted", tags: &tags, ..IndexedFields::default() });
    assert_eq!((words.term_frequency(token_term("nginx")), words.len), (3, 3));
    assert_eq!(content("the deployment/web").len, 2);
    assert_eq!(content("a datenbankverbindung").len, 1);
}

/// The stored numbers: a change here makes every index on disk stale.
#[test]
fn terms_are_stable() {
    let check = |token: &str, expected: Term| assert_eq!(token_term(token), expected, "{token}");
    check("", 0x4fd0_bfc1);
    check("nginx", 0x9812_4c00);
    check("东京", 0xc819_e3d7);
}

#[test]
fn tokens_are_plain_words() {
    assert_eq!(folded_words("File infra tickets in OPS!"), ["file", "infra", "tickets", "in", "ops"]);
    assert_eq!(folded_words("Ｃafé 東京"), ["cafe", "東", "京"]);
}

proptest! {
    #[test]
    fn bytes_come_back(terms in proptest::collection::btree_map(any::<u32>(), 1u8.., 0..200), len in any::<u32>()) {
        let words = IndexedWords { terms: terms.into_iter().collect(), len };
        prop_assert_eq!(IndexedWords::from_bytes(&words.to_bytes()), Some(words));
    }

    #[test]
    fn broken_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        if let Some(words) = IndexedWords::from_bytes(&bytes) {
            prop_assert!(words.terms.is_sorted_by(|a, b| a.0 < b.0));
        }
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        let words = content(&text);
        prop_assert!(words.terms.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert_eq!(IndexedWords::from_bytes(&words.to_bytes()), Some(words));
        prop_assert!(parse_query(&text).terms.len() <= QUERY_TERMS_MAX);
    }

    #[test]
    fn a_text_finds_itself(text in "[a-zA-Z0-9_./ -]{1,80}|[東京都市猫犬がで]{1,12}") {
        let words = content(&text);
        // What is only derived is looked for in other texts: compounds count less, and `Stoerung` asks for `Störung`
        // at 0.8.
        let said = |term: &&QueryTerm| term.weight >= 0.7 && (term.weight - 0.8).abs() > 1e-6;
        for asked in parse_query(&text).terms.iter().filter(said) {
            prop_assert!(words.term_frequency(asked.term) > 0);
        }
    }
}
