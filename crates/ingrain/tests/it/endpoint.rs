//! A fake OpenAI-compatible endpoint: counts its calls and answers what it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Endpoint {
    pub url: String,
    calls: Arc<AtomicUsize>,
}

impl Endpoint {
    /// Answers every call with this status and, where it is 200, this text.
    pub fn answering(status: u16, said: &'static str) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::Relaxed);
                let mut reader = BufReader::new(stream);
                let mut length = 0;
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap_or(0);
                    }
                    line.clear();
                }
                let mut body = vec![0; length];
                let _ = reader.read_exact(&mut body);
                let answer = serde_json::json!({ "choices": [{ "message": { "content": said } }] }).to_string();
                let head = format!("HTTP/1.1 {status} x\r\ncontent-type: application/json\r\nconnection: close\r\n");
                let _ = write!(reader.get_mut(), "{head}content-length: {}\r\n\r\n{answer}", answer.len());
            }
        });
        Endpoint { url, calls }
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// The settings that name it.
    pub fn config(&self) -> String {
        format!("[summaries]\nurl = '{}'\nmodel = 'tiny'\nprivate_endpoint = true\n", self.url)
    }
}
