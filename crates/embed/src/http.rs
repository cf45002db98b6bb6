//! Any endpoint that speaks OpenAI's `POST {base}/embeddings`. Whether its address may be called is the caller's affair.

use crate::calibration;
use engine::ports::{Calibration, EmbedError, Embedder};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;
use ureq::Agent;

/// Texts a request: servers commonly refuse more than a few hundred, and one lost request loses no more than this.
const BATCH_TEXTS_MAX: usize = 64;

/// Bytes sent of one text: within the 8,192 tokens common models read, for any script.
const TEXT_BYTES_MAX: usize = 16_000;

/// Bytes read of one reply: 64 vectors of 4,096 numbers printed in full, with room to spare.
const REPLY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Where the endpoint is and how to ask it.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// Up to but without `/embeddings`, such as `http://localhost:11434/v1`.
    pub base_url: String,
    pub model: String,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
    /// Asked of the endpoint and checked; without it the endpoint's own length is taken.
    pub dimensions: Option<usize>,
    /// Covers the whole request, from name look-up to the last byte.
    pub timeout: Duration,
    /// `http://user:password@host:port`; none means a direct connection.
    pub proxy: Option<String>,
}

impl fmt::Debug for HttpConfig {
    /// Without the key and the proxy, which may hold a password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("HttpConfig")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

pub(crate) struct HttpEmbedder {
    agent: Agent,
    config: HttpConfig,
    url: String,
    name: String,
    dimensions: OnceLock<usize>,
    calibration: OnceLock<Calibration>,
}

impl HttpEmbedder {
    pub(crate) fn open(config: &HttpConfig) -> Result<HttpEmbedder, EmbedError> {
        let proxy = config.proxy.as_deref().map(ureq::Proxy::new).transpose();
        let agent = Agent::config_builder()
            .timeout_global(Some(config.timeout))
            // The address was vetted; where it points on to was not.
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(proxy.map_err(|_| EmbedError::Broken("the proxy address is not valid".to_owned()))?)
            .build()
            .new_agent();
        Ok(HttpEmbedder {
            agent,
            url: format!("{}/embeddings", config.base_url.trim_end_matches('/')),
            name: match config.dimensions {
                Some(dimensions) => format!("{}@{dimensions}", config.model),
                None => config.model.clone(),
            },
            dimensions: config.dimensions.map(OnceLock::from).unwrap_or_default(),
            calibration: OnceLock::new(),
            config: config.clone(),
        })
    }

    /// Measures what this model's cosines mean, once a process, with a request of short fixed texts.
    fn ensure_calibrated(&self) {
        if self.calibration.get().is_some() {
            return;
        }
        // Where it fails the vectors in hand are still good; the next call tries again.
        if let Ok(vectors) = self.request_vectors(&calibration::paraphrase_texts()) {
            self.calibration.get_or_init(|| calibration::measure_cosine_scale(&vectors));
        }
    }

    fn request_vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut request = self.agent.post(&self.url);
        if let Some(key) = &self.config.api_key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let question = EmbeddingRequest {
            model: &self.config.model,
            input: texts,
            dimensions: self.config.dimensions,
            encoding_format: "float",
        };
        let mut response = request.send_json(question).map_err(|e| to_embed_error(&e))?;
        match response.status().as_u16() {
            200..=299 => {}
            status @ (408 | 425 | 429 | 500..) => {
                return Err(EmbedError::Unavailable(format!("status {status}")));
            }
            // The body is left out: it may quote the texts, or the key.
            status => {
                return Err(EmbedError::Broken(format!("the endpoint refused with status {status}")));
            }
        }
        let reader = response.body_mut().with_config().limit(REPLY_BYTES_MAX);
        let answer: EmbeddingReply = reader.read_json().map_err(|e| match e {
            ureq::Error::Json(_) | ureq::Error::BodyExceedsLimit(_) => {
                EmbedError::Broken("the reply is not a list of embeddings".to_owned())
            }
            other => to_embed_error(&other),
        })?;
        self.check_reply(answer, texts.len())
    }

    /// One vector of the right length for each text, in the order of the texts.
    fn check_reply(&self, answer: EmbeddingReply, count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = vec![Vec::new(); count];
        for row in answer.data {
            let dimensions = *self.dimensions.get_or_init(|| row.embedding.len());
            if row.embedding.len() != dimensions || dimensions == 0 {
                return Err(EmbedError::Broken(format!(
                    "expected {dimensions} dimensions, got {}",
                    row.embedding.len()
                )));
            }
            match vectors.get_mut(row.index) {
                Some(place) => *place = crate::scale_to_unit(row.embedding),
                None => {
                    return Err(EmbedError::Broken("the reply counts more texts than were sent".to_owned()));
                }
            }
        }
        if vectors.iter().any(Vec::is_empty) {
            return Err(EmbedError::Broken("the reply leaves a text without a vector".to_owned()));
        }
        Ok(vectors)
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    /// Zero until the first reply where the settings name no length.
    fn dimensions(&self) -> usize {
        self.dimensions.get().copied().unwrap_or(0)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = vec![Vec::new(); texts.len()];
        // Endpoints refuse empty texts, so those are never sent.
        let wanted: Vec<usize> = (0..texts.len()).filter(|i| !texts[*i].trim().is_empty()).collect();
        for part in wanted.chunks(BATCH_TEXTS_MAX) {
            let cut: Vec<&str> = part.iter().map(|i| truncate_text(texts[*i])).collect();
            for (place, vector) in part.iter().zip(self.request_vectors(&cut)?) {
                vectors[*place] = vector;
            }
        }
        if !wanted.is_empty() {
            self.ensure_calibrated();
        }
        Ok(vectors)
    }

    fn is_instant(&self) -> bool {
        false
    }

    fn calibration(&self) -> Calibration {
        self.calibration.get().copied().unwrap_or(calibration::UNMEASURED)
    }
}

#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct EmbeddingReply {
    data: Vec<ReplyRow>,
}

#[derive(Deserialize)]
struct ReplyRow {
    index: usize,
    embedding: Vec<f32>,
}

fn truncate_text(text: &str) -> &str {
    let whole = |end: &usize| text.is_char_boundary(*end);
    &text[..(0..=TEXT_BYTES_MAX.min(text.len())).rev().find(whole).unwrap_or(0)]
}

/// The kind of failure only: an address in the message could carry a password.
fn to_embed_error(error: &ureq::Error) -> EmbedError {
    EmbedError::Unavailable(
        match error {
            ureq::Error::Timeout(_) => "it took too long",
            ureq::Error::HostNotFound => "its host is unknown",
            ureq::Error::ConnectionFailed => "the connection failed",
            ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => "the connection was refused",
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => "the secure connection failed",
            ureq::Error::BadUri(_) => "its address is not valid",
            _ => "the exchange broke off",
        }
        .to_owned(),
    )
}
