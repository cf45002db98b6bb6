//! A stream that cannot follow, without sockets: their buffers would hide it.

use std::sync::atomic::{AtomicU64, Ordering};

use engine::model::caller::Caller;
use engine::model::id::uuid_v7;
use engine::model::memory::{Draft, Evidence};
use engine::model::vocabulary::{EvidenceKind, Kind};
use engine::ports::Clock;
use engine::{Engine, Settings};
use jiff::Timestamp;

use super::*;
use crate::config::{HttpLimits, ServerConfig};

#[derive(Default)]
struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        let micros = 1_767_225_600_000_000 + self.0.fetch_add(1, Ordering::Relaxed) as i64;
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
    }
    fn fresh_id(&self) -> uuid::Uuid {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        uuid_v7(self.now().as_microsecond(), random)
    }
}

type Frames = std::pin::Pin<Box<axum::body::BodyDataStream>>;

async fn opened(app: &App, caller: &Caller) -> Frames {
    let auth = AuthenticatedCaller::from_caller(caller.clone());
    let params = EventParams { name: vec!["memory.write.*".to_owned()], ..EventParams::default() };
    let response = stream_events(app.clone(), auth, None, params).await.expect("a stream");
    Box::pin(response.into_body().into_data_stream())
}

async fn told(frames: &mut Frames) -> String {
    let frame = frames.next().await.expect("a frame").expect("readable");
    String::from_utf8_lossy(&frame).into_owned()
}

#[tokio::test]
async fn a_slow_stream_is_dropped_with_a_reason() {
    let backend = store::open_sqlite(&store::Location::Memory, &store::SqliteOptions::default()).expect("a database");
    let embedder = embed::open_embedder(&embed::EmbedConfig::Off).expect("no embedder");
    let clock = Arc::new(Ticks::default());
    let engine = Engine::new(backend, embedder, clock, Settings::default());
    let admin = Caller::admin(engine.start_tenant("default").expect("a tenant").id);
    let limits = HttpLimits { stream_lag_max: 4, ..HttpLimits::default() };
    let app = App::new(engine, ServerConfig { limits, local: Some(admin.clone()), ..ServerConfig::default() });
    let save = |number: usize| {
        let draft = Draft {
            store: "workspace_runbooks".to_owned(),
            path: Some(format!("p/{number}")),
            kind: Some(Kind::Runbook),
            content: format!("fact {number}"),
            evidence: vec![Evidence::new(EvidenceKind::AdminEntry, "seen")],
            ..Draft::default()
        };
        let saved = app.entrance.engine().remember(&admin, draft).expect("an answer");
        assert!(matches!(saved, engine::Remembered::Saved(_)), "{saved:?}");
    };
    let (mut slow, mut fast) = (opened(&app, &admin).await, opened(&app, &admin).await);
    for frames in [&mut slow, &mut fast] {
        assert!(told(frames).await.contains("ingrain events"));
    }
    // After two events each on its own, a stream has caught up and listens.
    for number in 0..2 {
        save(number);
        assert!(told(&mut slow).await.contains("memory.write.created"));
        assert!(told(&mut fast).await.contains("memory.write.created"));
    }
    // The fast one takes each as it comes, so that each is a batch of its own.
    for number in 2..12 {
        save(number);
        told(&mut fast).await;
    }
    let last = told(&mut slow).await;
    assert!(last.contains("stream.closed") && last.contains("too slow"), "{last}");
    assert!(slow.next().await.is_none());
    assert!(
        app.metrics
            .render_page(&crate::metrics::Gauges {
                queue_depth: 0,
                running: 0,
                memories: 0,
                bytes: 0,
                findings: Vec::new()
            })
            .contains("ingrain_streams_dropped_total 1")
    );
}
