//! The tour and the benchmark run from start to end and leave nothing behind.

use crate::world::{World, column, rows, text};

#[test]
fn the_demo_runs_all_its_steps() {
    let world = World::new();
    let told = world.run("demo", &[]);
    assert_eq!(told.exit, 0, "{told:?}");
    for promise in ["three stores", "refused", "safety.secret_found", "policy.needs_promotion", "not found", "intact"] {
        assert!(told.stdout.contains(promise), "{promise}: {}", told.stdout);
    }
    let steps = world.json("demo", &[]);
    assert_eq!(steps["steps"][4]["facts"]["first"], "notes/nginx", "{steps}");
    assert_eq!(steps["steps"][5]["facts"]["seen"], false);
    assert_eq!(steps["steps"][6]["facts"]["stale"], "conflict.sha256");
    assert_eq!(std::fs::read_dir(world.home()).expect("readable").count(), 0, "the user's home is untouched");
}

#[test]
fn the_benchmark_reports_figures() {
    let world = World::new();
    let report = world.json("bench save --count 20", &[]);
    assert_eq!((rows(&report["figures"]).len(), report["count"].as_u64()), (10, Some(20)));
    let report = world.json("bench search --count 20 --queries 10", &[]);
    let names = ["fill", "first searches", "search", "search in one conversation", "nearest by vector"];
    assert_eq!(column(&report["figures"], "name"), names);
    for figure in rows(&report["figures"]) {
        assert!(figure["cpu_ms_each"].as_f64() > Some(0.0), "{figure}");
    }
    let doors = world.json("bench doors --count 20 --saves 20", &[]);
    assert_eq!(column(&doors["figures"], "name"), ["save in process", "save over MCP", "save over REST"]);
    assert!(rows(&doors["figures"]).iter().all(|figure| figure["operations"] == 20), "{doors}");
    assert!(text(&report["embedder"]).len() > 3 && report["peak_memory_bytes"].as_u64() > Some(1_000_000));
}

#[test]
fn a_bench_fills_only_an_empty_database_named_by_flag() {
    let world = World::new();
    let empty = world.home().join("empty.db").display().to_string();
    fills_only_what_is_empty(&world, &empty, "sqlite");
}

#[test]
#[ignore = "needs Postgres: scripts/postgres-test"]
fn a_bench_fills_only_an_empty_postgres() {
    let database = crate::postgres::Database::fresh(&crate::postgres::server());
    fills_only_what_is_empty(&World::new(), &database.url(crate::postgres::APP), "postgres");
}

fn fills_only_what_is_empty(world: &World, empty: &str, backend: &str) {
    world.json("remember --path a", &["somebody's memory"]);
    let report = world.json("bench search --count 10 --queries 5", &["--db", empty]);
    assert_eq!(text(&report["backend"]), backend);
    assert_eq!(world.code(2, "bench save --count 10", &["--db", empty]), "bench.occupied");
    assert_eq!(
        text(&world.json("bench save --count 10", &[])["backend"]),
        "sqlite",
        "what is configured is left alone"
    );
}

#[test]
fn bench_retrieval_measures_generated_notes_with_half_paraphrased_questions() {
    let world = World::new();
    let report = world.json("bench retrieval --generated 200", &[]);
    assert_eq!((report["memories"].as_u64(), report["queries"].as_u64()), (Some(200), Some(40)), "{report}");
    let queries = |category: &str| report["by_category"][category]["queries"].as_u64();
    assert_eq!((queries("1"), queries("2")), (Some(20), Some(20)));
    assert!(report["by_category"]["1"]["recall"]["10"].as_f64() > Some(50.0), "{report}");
    assert_eq!(report, world.json("bench retrieval --generated 200", &[]), "the same every time");
    assert_eq!(world.run("bench retrieval", &[]).exit, 2, "neither a file nor a number");
}

#[test]
fn bench_report_writes_a_page_with_plots_and_keeps_the_hand_written_part() {
    let world = World::new();
    let out = world.home().join("docs");
    let page = out.join("benchmarks.md");
    let mark = "<!-- by hand from here on: `ingrain bench report` keeps what is below this line -->";
    std::fs::create_dir(&out).expect("a folder");
    std::fs::write(&page, format!("old figures\n\n{mark}\n\n## Doors\n\nMeasured by hand.\n")).expect("written");
    let line = "bench report --sizes 100,200 --queries 20 --generated 100 --out";
    let report = world.json(line, &[&out.display().to_string()]);
    assert_eq!(rows(&report["speed"]).len(), 2);
    assert_eq!(report["governance"]["passed"], report["governance"]["total"]);
    let told = std::fs::read_to_string(&page).expect("a page");
    for part in ["# Benchmarks", "| search among 200 |", "| category 2 | 10 |", "| save, CPU, growth from 100 to 200 |"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.ends_with("## Doors\n\nMeasured by hand.\n") && !told.contains("old figures"), "{told}");
    for plot in ["benchmarks-latency.svg", "benchmarks-generated.svg"] {
        assert!(told.contains(plot), "{plot}: {told}");
        let svg = std::fs::read_to_string(out.join(plot)).expect("a plot");
        assert!(svg.starts_with("<svg") && svg.contains("<title"), "{svg}");
    }
}
