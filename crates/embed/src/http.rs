//! Embeddings from an endpoint with OpenAI's `POST {base}/embeddings`. The caller decides whether the address may be
//! called.

use crate::calibration;
use engine::ports::{Calibration, EmbedError, Embedder};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;
use ureq::Agent;

/// Texts per request: servers commonly refuse more than a few hundred, and a failed request loses only these.
const BATCH_TEXTS_MAX: usize = 64;

/// Bytes sent per text: within the 8,192 tokens that common models read, in any script.
const TEXT_BYTES_MAX: usize = 16_000;

/// Bytes read per reply: room for 64 vectors of 4,096 numbers printed in full.
const REPLY_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Address and settings of the endpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpConfig {
    /// The part before `/embeddings`, such as `http://localhost:11434/v1`.
    pub base_url: String,
    pub model: String,
    /// Sent as a bearer token.
    pub api_key: Option<String>,
    /// Requested from the endpoint and checked; without it the length of the first reply is used.
    pub dimensions: Option<usize>,
    /// For the whole request, from name look-up to the last byte.
    pub timeout: Duration,
    /// `http://user:password@host:port`; `None` means a direct connection.
    pub proxy: Option<String>,
}

impl fmt::Debug for HttpConfig {
    /// Leaves out the key, and the proxy, which may hold a password.
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
    /// Name of the model stored with each vector; includes the dimensions where they are set.
    name: String,
    /// Set by the configuration or by the first reply.
    dimensions: OnceLock<usize>,
    /// Set after the first successful request.
    calibration: OnceLock<Calibration>,
}

impl HttpEmbedder {
    pub(crate) fn open(config: &HttpConfig) -> Result<HttpEmbedder, EmbedError> {
        let proxy = config.proxy.as_deref().map(ureq::Proxy::new).transpose();
        let agent = Agent::config_builder()
            .timeout_global(Some(config.timeout))
            // Only the configured address was checked, so redirects are not followed.
            .max_redirects(0)
            // The status decides whether a failure is worth a retry.
            .http_status_as_error(false)
            // Without the parser's message, which may quote a password.
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

    /// Calibrates the model once per process, with one request of short fixed texts.
    fn ensure_calibrated(&self) {
        if self.calibration.get().is_some() {
            return;
        }
        // A failure is ignored: the vectors already received are good, and the next call tries again.
        if let Ok(vectors) = self.request_vectors(&calibration::paraphrase_texts()) {
            self.calibration.get_or_init(|| calibration::measure_cosine_scale(&vectors));
        }
    }

    fn request_vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut request = self.agent.post(&self.url);
        if let Some(key) = &self.config.api_key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let body = EmbeddingRequest {
            model: &self.config.model,
            input: texts,
            dimensions: self.config.dimensions,
            encoding_format: "float",
        };
        let mut response = request.send_json(body).map_err(|e| to_embed_error(&e))?;
        match response.status().as_u16() {
            200..=299 => {}
            // Worth trying again: timeout, too early, too many requests, server errors.
            status @ (408 | 425 | 429 | 500..) => {
                return Err(EmbedError::Unavailable(format!("status {status}")));
            }
            // Without the body, which may quote the texts or the key.
            status => {
                return Err(EmbedError::Broken(format!("the endpoint refused with status {status}")));
            }
        }
        let reader = response.body_mut().with_config().limit(REPLY_BYTES_MAX);
        let reply: EmbeddingReply = reader.read_json().map_err(|e| match e {
            ureq::Error::Json(_) | ureq::Error::BodyExceedsLimit(_) => {
                EmbedError::Broken("the reply is not a list of embeddings".to_owned())
            }
            other => to_embed_error(&other),
        })?;
        self.check_reply(reply, texts.len())
    }

    /// Checks that there is one vector of the right length per text; returns them in the order of the texts.
    fn check_reply(&self, reply: EmbeddingReply, count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Placed by `index`: the protocol does not promise the order of the inputs.
        let mut vectors = vec![Vec::new(); count];
        for row in reply.data {
            // The first vector fixes the length where the configuration does not.
            let dimensions = *self.dimensions.get_or_init(|| row.embedding.len());
            if row.embedding.len() != dimensions || dimensions == 0 {
                return Err(EmbedError::Broken(format!(
                    "expected {dimensions} dimensions, got {}",
                    row.embedding.len()
                )));
            }
            match vectors.get_mut(row.index) {
                Some(slot) => *slot = crate::scale_to_unit(row.embedding),
                None => {
                    return Err(EmbedError::Broken(
                        "the reply has an index beyond the texts that were sent".to_owned(),
                    ));
                }
            }
        }
        // Also true for a vector of zeros, which has no direction to compare.
        if vectors.iter().any(Vec::is_empty) {
            return Err(EmbedError::Broken("the reply has no vector for one of the texts".to_owned()));
        }
        Ok(vectors)
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.name
    }

    /// Zero until the first reply where the configuration sets none.
    fn dimensions(&self) -> usize {
        self.dimensions.get().copied().unwrap_or(0)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = vec![Vec::new(); texts.len()];
        // Endpoints refuse empty texts, so these are not sent and keep an empty vector.
        let wanted: Vec<usize> = (0..texts.len()).filter(|i| !texts[*i].trim().is_empty()).collect();
        for batch in wanted.chunks(BATCH_TEXTS_MAX) {
            let truncated: Vec<&str> = batch.iter().map(|i| truncate_text(texts[*i])).collect();
            for (i, vector) in batch.iter().zip(self.request_vectors(&truncated)?) {
                vectors[*i] = vector;
            }
        }
        if !wanted.is_empty() {
            // After the texts, so that an unreachable endpoint costs one failed request and not two.
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

/// At most [`TEXT_BYTES_MAX`] bytes, cut between two characters.
fn truncate_text(text: &str) -> &str {
    let is_boundary = |end: &usize| text.is_char_boundary(*end);
    &text[..(0..=TEXT_BYTES_MAX.min(text.len())).rev().find(is_boundary).unwrap_or(0)]
}

/// Only the kind of failure: an address in the message could hold a password.
fn to_embed_error(error: &ureq::Error) -> EmbedError {
    EmbedError::Unavailable(
        match error {
            ureq::Error::Timeout(_) => "the request timed out",
            ureq::Error::HostNotFound => "the host is unknown",
            ureq::Error::ConnectionFailed => "the connection failed",
            ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => "the connection was refused",
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => "the secure connection failed",
            ureq::Error::BadUri(_) => "the address is not valid",
            _ => "the connection broke during the request",
        }
        .to_owned(),
    )
}
