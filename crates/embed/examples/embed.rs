//! For the checks in `scripts/model`: reads one JSON string a line, writes one JSON array a line.
//!
//!     embed tokens | embed static | embed minilm FILE | embed time [FILE]

use embed::{EmbedConfig, open_embedder, reference_ids};
use std::io::{Error, Write, read_to_string, stdin, stdout};
use std::time::Instant;

/// Lines embedded together.
const BATCH_TEXTS: usize = 256;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["tokens"] => tokens(),
        ["static"] => vectors(&EmbedConfig::Static),
        ["minilm", path] => vectors(&EmbedConfig::Transformer { weights: path.into() }),
        ["time"] => time(&EmbedConfig::Static),
        ["time", path] => time(&EmbedConfig::Transformer { weights: path.into() }),
        _ => Err(Error::other("tokens, static, minilm FILE or time [FILE]")),
    }
}

fn lines() -> Result<Vec<String>, Error> {
    let text = read_to_string(stdin())?;
    text.lines().map(|line| serde_json::from_str(line).map_err(Error::from)).collect()
}

fn tokens() -> Result<(), Error> {
    let mut out = stdout().lock();
    for line in lines()? {
        let ids = reference_ids(&line).map_err(Error::other)?;
        writeln!(out, "{}", serde_json::to_string(&ids)?)?;
    }
    Ok(())
}

fn vectors(config: &EmbedConfig) -> Result<(), Error> {
    let embedder = open_embedder(config).map_err(Error::other)?;
    let mut out = stdout().lock();
    for part in lines()?.chunks(BATCH_TEXTS) {
        let texts: Vec<&str> = part.iter().map(String::as_str).collect();
        for vector in embedder.embed(&texts).map_err(Error::other)? {
            writeln!(out, "{}", serde_json::to_string(&vector)?)?;
        }
    }
    Ok(())
}

/// Opening, the first text, then the mean of all texts one by one.
fn time(config: &EmbedConfig) -> Result<(), Error> {
    let lines = lines()?;
    let began = Instant::now();
    let embedder = open_embedder(config).map_err(Error::other)?;
    let opened = began.elapsed();
    let mut first = None;
    for line in &lines {
        embedder.embed(&[line]).map_err(Error::other)?;
        first.get_or_insert_with(|| began.elapsed() - opened);
    }
    let each = (began.elapsed() - opened) / u32::try_from(lines.len().max(1)).map_err(Error::other)?;
    writeln!(stdout(), "open {opened:?}, first {first:?}, each {each:?}")
}
