//! Measures `verify`: `cargo run --release -p store --example verify -- fill|verify DATABASE [COUNT]`, where DATABASE
//! is a file or a Postgres URL. `fill` saves turns in batches; `verify` prints entries, CPU seconds and memory.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use engine::model::caller::Caller;
use engine::model::id::uuid_v7;
use engine::ports::{Backend, Calibration, Clock, EmbedError, Embedder};
use engine::{Engine, Settings, Turn};
use jiff::Timestamp;
use store::{Location, PostgresOptions, SqliteOptions, open_postgres, open_sqlite};

struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        let micros = 1_772_366_400_000_000 + self.0.fetch_add(1, Ordering::Relaxed) as i64;
        Timestamp::from_microsecond(micros).expect("in range")
    }

    fn fresh_id(&self) -> uuid::Uuid {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        uuid_v7(self.now().as_microsecond(), random)
    }
}

struct NoVectors;

impl Embedder for NoVectors {
    fn model(&self) -> &'static str {
        "none"
    }
    fn dimensions(&self) -> usize {
        0
    }
    fn embed(&self, _texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Off)
    }
    fn is_instant(&self) -> bool {
        true
    }
    fn calibration(&self) -> Calibration {
        Calibration { unrelated: 0.0, same: 1.0 }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, database, rest @ ..] = arguments.as_slice() else { panic!("fill|verify DATABASE [COUNT]") };
    let backend: Arc<dyn Backend> = match database.starts_with("postgres:") {
        true => open_postgres(database, &PostgresOptions::default()).expect("opens"),
        false => open_sqlite(&Location::File(database.into()), &SqliteOptions::default()).expect("opens"),
    };
    let engine = Engine::new(backend, Arc::new(NoVectors), Arc::new(Ticks(AtomicU64::new(0))), Settings::default());
    let tenant = engine.start_tenant("default").expect("a tenant").id;
    if mode == "fill" {
        let count: u64 = rest.first().and_then(|count| count.parse().ok()).unwrap_or(100_000);
        let (agent, started) = (Caller::agent(tenant, "bench"), Instant::now());
        for start in (0..count).step_by(500) {
            let turn = |number: u64| Turn {
                content: format!(
                    "turn {number}: the pump in hall {} was checked and runs at {} bar",
                    number % 97,
                    number
                ),
                ..Turn::default()
            };
            let turns: Vec<Turn> = (start..start + 500).map(turn).collect();
            engine.remember_turns(&agent, &format!("s{}", start / 500), &turns).expect("saved");
        }
        let _ = writeln!(std::io::stdout(), "{count} turns in {:?}", started.elapsed());
    }
    let (before, started) = (cpu_seconds(), Instant::now());
    let verified = engine.verify(&Caller::admin(tenant)).expect("verifies");
    let _ = writeln!(
        std::io::stdout(),
        "intact {}, {} entries, {:?}, {:.1} s of CPU, {:?}, {}",
        verified.is_intact(),
        verified.entries,
        verified.checked,
        cpu_seconds() - before,
        started.elapsed(),
        peak_memory()
    );
}

/// User and system time of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields[11..13].iter().filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}
