//! The endpoint embedder against a tiny server on loopback.

use embed::{EmbedConfig, HttpConfig, open_embedder};
use engine::ports::{EmbedError, Embedder};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Long enough for a loaded machine; the silent-endpoint case uses its own.
const TIMEOUT: Duration = Duration::from_secs(20);

type Seen = Arc<Mutex<Vec<(String, serde_json::Value)>>>;

/// Answers every request with what `answer` makes of its body, and keeps head and body.
fn serve(answer: impl Fn(&serde_json::Value) -> (u16, String) + Send + 'static) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let seen = Seen::default();
    let log = seen.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (head, body) = read_request(&stream);
            let (status, reply) = answer(&body);
            log.lock().unwrap().push((head, body));
            let length = reply.len();
            write!(
                stream,
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n{reply}"
            )
            .unwrap();
        }
    });
    (base_url, seen)
}

fn read_request(stream: &TcpStream) -> (String, serde_json::Value) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).unwrap();
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

/// Two dimensions: the text's length and one, so that order and scaling can be checked. Rows come backwards.
fn lengths(body: &serde_json::Value) -> (u16, String) {
    let texts = body["input"].as_array().unwrap();
    let backwards = texts.iter().enumerate().rev();
    let rows: Vec<_> = backwards
        .map(|(index, text)| serde_json::json!({"index": index, "embedding": [text.as_str().unwrap().len(), 1]}))
        .collect();
    (200, serde_json::json!({ "data": rows }).to_string())
}

fn endpoint(base_url: &str, dimensions: Option<usize>, timeout: Duration) -> Arc<dyn Embedder> {
    let config = HttpConfig {
        base_url: base_url.to_owned(),
        model: "tiny".to_owned(),
        api_key: Some(["key", "for", "tests"].join("-")),
        dimensions,
        timeout,
        proxy: None,
    };
    open_embedder(&EmbedConfig::Http(config)).unwrap()
}

#[test]
fn vectors_come_back_in_the_order_of_the_texts() {
    let (base_url, seen) = serve(lengths);
    let embedder = endpoint(&base_url, None, TIMEOUT);
    assert_eq!(embedder.dimensions(), 0);
    let long = "a".repeat(99);
    let vectors = embedder.embed(&["abc", "  ", &long]).unwrap();
    let slope = |vector: &[f32]| (vector[0] / vector[1]).round();
    assert_eq!((slope(&vectors[0]), vectors[1].len(), slope(&vectors[2])), (3.0, 0, 99.0));
    assert!((vectors[0].iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    assert_eq!((embedder.model(), embedder.dimensions(), embedder.is_instant()), ("tiny", 2, false));
    let (head, body) = seen.lock().unwrap()[0].clone();
    assert!(head.starts_with("post /v1/embeddings "), "{head}");
    assert!(head.contains("authorization: bearer key-for-tests"), "{head}");
    assert_eq!((body["model"].as_str(), body.get("dimensions")), (Some("tiny"), None));
}

#[test]
fn many_texts_go_in_batches_and_long_ones_are_cut() {
    let (base_url, seen) = serve(lengths);
    let long = "é".repeat(20_000);
    let texts = vec![long.as_str(); 150];
    assert_eq!(endpoint(&base_url, Some(2), TIMEOUT).embed(&texts).unwrap().len(), 150);
    let seen = seen.lock().unwrap();
    let sizes: Vec<usize> = seen.iter().map(|(_, body)| body["input"].as_array().unwrap().len()).collect();
    // The last request measures the model's scale.
    assert_eq!(sizes, [64, 64, 22, 32]);
    assert!(seen[0].1["input"][0].as_str().unwrap().len() <= 16_000);
    assert_eq!(seen[0].1["dimensions"], 2);
}

#[test]
fn bad_endpoints_are_told_apart() {
    let check = |status: u16, reply: &str, dimensions: Option<usize>, broken: bool| {
        let reply = reply.to_owned();
        let (base_url, _) = serve(move |_| (status, reply.clone()));
        let error = endpoint(&base_url, dimensions, TIMEOUT).embed(&["text"]).unwrap_err();
        assert_eq!(matches!(error, EmbedError::Broken(_)), broken, "{status}: {error}");
        assert!(!error.to_string().contains("pelican"), "{error}");
    };
    check(500, "oops pelican", None, false);
    check(429, "slow down", None, false);
    check(401, "no pelican", None, true);
    check(302, "", None, true);
    check(200, "not json", None, true);
    check(200, r#"{"data": []}"#, None, true);
    check(200, r#"{"data": [{"index": 7, "embedding": [1, 2]}]}"#, None, true);
    check(200, r#"{"data": [{"index": 0, "embedding": [1, 2]}]}"#, Some(3), true);
    check(200, r#"{"data": [{"index": 0, "embedding": []}]}"#, None, true);
}

#[test]
fn an_endpoint_that_is_away_or_silent_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    let soon = Duration::from_millis(200);
    assert!(matches!(endpoint(&silent, None, soon).embed(&["text"]), Err(EmbedError::Unavailable(_))));
    drop(listener);
    assert!(matches!(endpoint(&silent, None, TIMEOUT).embed(&["text"]), Err(EmbedError::Unavailable(_))));
}

#[test]
fn the_key_is_never_printed() {
    let config = HttpConfig {
        base_url: "http://localhost".to_owned(),
        model: "tiny".to_owned(),
        api_key: Some("hidden".to_owned()),
        dimensions: None,
        timeout: TIMEOUT,
        proxy: Some("http://user:hidden@proxy".to_owned()),
    };
    assert!(!format!("{:?}", EmbedConfig::Http(config)).contains("hidden"));
}
