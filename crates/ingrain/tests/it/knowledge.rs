//! The knowledge base: documents in, chunks found, what went stale archived.

use crate::world::{World, column, rows, text};

fn write(world: &World, name: &str, content: &str) -> String {
    let file = world.home().join("docs").join(name);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(&file, content).expect("written");
    world.home().join("docs").display().to_string()
}

#[test]
fn documents_are_split_found_and_replaced() {
    let world = World::new();
    let long = "the turbine needs oil every spring and autumn. ".repeat(120);
    let folder =
        write(&world, "guide.md", &format!("# Turbines\n\n{long}\n\n## Bearings\n\nbearings are greased by hand\n"));
    write(
        &world,
        "page.html",
        "<title>Pumps</title><h1>Pumps</h1><p>prime the pump &amp; wait</p><script>x()</script>",
    );
    write(&world, ".hidden.md", "not meant");
    std::fs::write(world.home().join("docs/odd.txt"), [0xff, 0xfe, b'x']).expect("written");
    let done = world.json("ingest --category plant", &[&folder]);
    assert_eq!(column(&done["documents"], "outcome"), ["created", "created"], "{done}");
    assert_eq!(done["left_out"], serde_json::json!(["docs/odd.txt"]), "one bad file holds up nobody");
    let chunks = done["documents"][0]["document"]["chunks"].as_u64().expect("a number");
    assert!(chunks >= 3, "{done}");
    let found = world.json("search greased bearings --store knowledge_base --as agent:t", &[]);
    let hit = &found["hits"][0];
    assert_eq!(
        (text(&hit["title"]), text(&hit["trust"])),
        ("Turbines > Bearings".to_owned(), "admin_approved".to_owned())
    );
    assert!(text(&hit["path"]).starts_with("docs/guide.md#"), "{hit}");
    assert!(
        text(&world.json("search prime pump --as agent:t", &[])["hits"][0]["content"])
            .contains("prime the pump & wait")
    );
    // Again: nothing to do.
    let again = world.json("ingest --category plant", &[&folder]);
    assert_eq!(
        (column(&again["documents"], "outcome"), again["written"].as_u64()),
        (vec!["unchanged".to_owned(); 2], Some(0))
    );
    // A shorter file: chunks that it no longer has are archived.
    write(&world, "guide.md", "# Turbines\n\nthe turbine was sold\n");
    let shorter = world.json("ingest --category plant", &[&folder]);
    assert_eq!(shorter["documents"][0]["archived"].as_u64(), Some(chunks - 1), "{shorter}");
    assert!(!world.json("search greased bearings", &[]).to_string().contains("by hand"));
    assert_eq!(rows(&world.json("list --store knowledge_base", &[])["memories"]).len(), 2);
}

#[test]
fn a_file_is_the_same_document_alone_and_in_its_folder() {
    let world = World::new();
    let folder = write(&world, "crew/plan.md", "# Plan\n\nmove the cabinets in october\n");
    world.json("ingest --category plant", &[&folder]);
    // Alone, with the folder it is in, and as a draft: one document, which keeps its category.
    for alone in [format!("{folder}/crew/plan.md"), format!("{folder}/crew")] {
        let again = world.json("ingest", &[&alone]);
        assert_eq!(column(&again["documents"], "outcome"), ["unchanged"], "{again}");
    }
    world.json("ingest --draft", &[&format!("{folder}/crew/plan.md")]);
    let listed = world.json("ingest", &[]);
    assert_eq!(column(&listed["documents"], "path"), ["docs/crew/plan.md"]);
    assert_eq!(column(&listed["documents"], "category"), ["plant"]);
    assert!(!world.json("search cabinets october", &[]).to_string().contains("move the cabinets"));
    // A file that is new is named as its folder would name it, and an empty category takes it away.
    write(&world, "crew/rota.md", "# Rota\n\nann on mondays\n");
    world.json("ingest --category plant", &[&format!("{folder}/crew/rota.md")]);
    let emptied = world.json("ingest", &["--category", "", &format!("{folder}/crew")]);
    let paths: Vec<_> = rows(&emptied["documents"]).iter().map(|row| text(&row["document"]["path"])).collect();
    assert_eq!(paths, ["docs/crew/plan.md", "crew/rota.md"]);
    assert!(rows(&emptied["documents"]).iter().all(|row| row["document"]["category"].is_null()), "{emptied}");
}

#[test]
fn drafts_are_not_searched_until_published() {
    let world = World::new();
    let folder = write(&world, "plan.md", "# Plan\n\nmove the cabinets in october\n");
    world.json("ingest --draft", &[&folder]);
    for line in ["search cabinets october", "search cabinets october --as agent:t", "context cabinets"] {
        assert!(
            !world.json(line, &[]).to_string().contains("october\\n")
                && !world.json(line, &[]).to_string().contains("move the cabinets"),
            "{line}"
        );
    }
    assert_eq!(world.code(2, "search cabinets --store knowledge_drafts --as agent:t", &[]), "not_found");
    assert_eq!(column(&world.json("ingest", &[])["documents"], "status"), ["draft"]);
    // With its folder it comes again, changed, and is still a draft; a file that is new is published.
    write(&world, "plan.md", "# Plan\n\nmove the cabinets in november\n");
    write(&world, "rota.md", "# Rota\n\nann on mondays\n");
    let again = world.json("ingest", &[&folder]);
    let status = |row: &serde_json::Value| text(&row["document"]["status"]);
    assert_eq!(rows(&again["documents"]).iter().map(status).collect::<Vec<_>>(), ["draft", "published"]);
    assert!(!world.json("search cabinets november", &[]).to_string().contains("move the cabinets"));
    world.json("ingest publish docs/plan.md", &[]);
    assert!(world.json("search cabinets november --as agent:t", &[]).to_string().contains("move the cabinets"));
    assert!(rows(&world.json("list --store knowledge_drafts", &[])["memories"]).is_empty());
}

#[test]
fn a_file_with_a_nul_byte_in_a_folder_is_skipped() {
    let world = World::new();
    let folder = write(&world, "a.md", "# A\n\nhalf a\0 file\n");
    write(&world, "b.md", "# B\n\nthe crane lifts forty tonnes\n");
    let ran = world.run("ingest", &[&folder]);
    assert!(ran.exit == 0 && ran.stderr.contains("left out: `docs/a.md`: the document holds a NUL"), "{ran:?}");
    let listed = world.json("ingest", &[]);
    assert_eq!(column(&listed["documents"], "path"), ["docs/b.md"], "{listed}");
    assert_eq!(world.code(2, "ingest", &[&format!("{folder}/a.md")]), "shape.control_character");
}

#[test]
fn an_empty_file_is_reported() {
    let world = World::new();
    let folder = write(&world, "empty.md", "\u{feff}\n\n");
    write(&world, "b.md", "# B\n\nthe crane lifts forty tonnes\n");
    let ran = world.run("ingest", &[&folder]);
    assert!(ran.stdout.ends_with("1 chunk written\n  docs/empty.md contains no text\n"), "{ran:?}");
}

#[test]
fn ingested_documents_pass_the_gate() {
    let world = World::new();
    let secret = format!("{}{}", "AKIA", "Q3EGRTZPLMXW7YVB");
    let folder = write(&world, "keys.md", &format!("# Keys\n\nuse {secret} for the bucket\n"));
    let refused = world.fails(3, "ingest", &[&folder]);
    assert_eq!(refused["refused"], 1, "{refused}");
    let ran = World::new().run("ingest", &[&folder]);
    let summary = "documents: 0 new, 0 changed, 0 unchanged, 1 refused; 0 chunks written";
    assert!(ran.exit == 3 && ran.stdout.starts_with(summary), "{ran:?}");
    let again = world.fails(3, "ingest", &[&folder]);
    assert_eq!((&again["refused"], &again["documents"][0]["outcome"]), (&1.into(), &"unchanged".into()), "{again}");
    assert!(!std::fs::read(world.database()).is_ok_and(|bytes| bytes.windows(20).any(|w| w == secret.as_bytes())));
    // A title is kept with the record, whatever becomes of the chunks.
    write(&world, "keys.md", &format!("# {secret}\n\nfor the bucket\n"));
    assert!(!world.fails(3, "ingest", &[&folder]).to_string().contains(&secret));
    assert!(!world.json("ingest", &[]).to_string().contains(&secret));
    assert_eq!(world.code(3, "ingest --as agent:t", &[&folder]), "policy.admins_only");
    let direct = "remember --store knowledge_base --kind note --evidence x --as agent:t";
    assert_eq!(world.code(3, direct, &["a fact"]), "policy.needs_promotion");
    assert_eq!(world.code(2, "ingest nowhere", &[]), "not_found");
}

#[test]
fn a_draft_is_published_by_its_address() {
    let world = World::new();
    let folder = write(&world, "plan.md", "# Plan\n\nmove the cabinets in october\n");
    world.json("ingest --draft", &[&folder]);
    let done = world.json("ingest publish docs/plan.md", &[]);
    assert_eq!((done["written"].as_u64(), &done["documents"][0]["document"]["status"]), (Some(1), &"published".into()));
    assert!(world.json("search cabinets october --as agent:t", &[]).to_string().contains("move the cabinets"));
    assert!(rows(&world.json("list --store knowledge_drafts", &[])["memories"]).is_empty());
    assert_eq!(column(&world.json("ingest --draft", &[&folder])["documents"], "outcome"), ["updated"]);
    assert_eq!(world.code(2, "ingest publish nowhere.md", &[]), "not_found");
    assert_eq!(world.code(3, "ingest publish docs/plan.md --as agent:t", &[]), "policy.admins_only");
}

#[test]
fn an_agent_with_categories_finds_no_other_documents() {
    let world = World::with_config("[knowledge.categories]\nclerk = ['office']\n");
    let folder = write(&world, "plan.md", "# Plan\n\nthe harbour cabinets move in october\n");
    world.json("ingest --category office", &[&folder]);
    let other = world.home().join("crane.md");
    std::fs::write(&other, "# Crane\n\nthe harbour crane lifts forty tonnes\n").expect("written");
    world.json("ingest --category plant", &[other.to_str().expect("utf-8")]);
    let recall = |who: &str| world.json(&format!("recall harbour --as agent:{who}"), &[]).to_string();
    assert!(recall("clerk").contains("cabinets") && !recall("clerk").contains("forty"), "{}", recall("clerk"));
    assert!(recall("smith").contains("cabinets") && recall("smith").contains("forty"));
    let window = world.home().join("window.json");
    std::fs::write(&window, r#"{"window_tokens": 4000, "message": "harbour"}"#).expect("written");
    let seen = world.json(&format!("context --as agent:clerk --window {}", window.display()), &[]).to_string();
    assert!(seen.contains("cabinets") && !seen.contains("forty"), "{seen}");
}

#[test]
fn a_pdf_is_read_if_pdftotext_is_installed() {
    let world = World::new();
    let folder = write(&world, "plan.md", "# Plan\n\nmove the cabinets in october\n");
    write(&world, "scan.pdf", "%PDF-1.7 scanned");
    let pdf = format!("{folder}/scan.pdf");
    let ran = world.run("ingest", &[&folder]);
    assert!(ran.exit == 0 && ran.stderr.contains("scan.pdf` is a PDF, and `pdftotext` is not installed"), "{ran:?}");
    assert_eq!(world.code(2, "ingest", &[&pdf]), "ingest.pdf");

    let program = world.home().join("bin/pdftotext");
    let install = |script: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir_all(world.home().join("bin")).expect("a folder");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    };
    // The last two words are the file and where its text goes.
    install("[ \"$8\" = - ] && read first < \"$7\"; echo \"the crane manual, from $first\"");
    assert_eq!(rows(&world.json("ingest", &[&pdf])["documents"])[0]["outcome"], "created");
    let found = world.json("search crane manual", &[]).to_string();
    assert!(found.contains("from %PDF-1.7 scanned"), "{found}");
    for (script, words) in [("echo", "contains no text"), ("exit 1", "damaged or encrypted")] {
        install(script);
        let refused = world.fails(2, "ingest", &[&pdf]);
        assert!(text(&refused["error"]).contains(words), "{refused}");
        let left = world.run("ingest", &[&folder]);
        assert!(left.exit == 0 && left.stderr.contains(words), "{left:?}");
    }
}

#[test]
fn folders_with_the_same_name_keep_separate_documents() {
    let world = World::new();
    let folder = write(&world, "manual/index.md", "# Cranes\n\ngrease the crane\n");
    write(&world, "pumps/manual/index.md", "# Pumps\n\nprime the pump\n");
    let manuals = [format!("{folder}/manual"), format!("{folder}/pumps/manual")];
    let given = [manuals[0].as_str(), manuals[1].as_str()];
    let done = world.json("ingest", &given);
    assert_eq!(column(&done["documents"], "outcome"), ["created", "created"], "{done}");
    let paths = |done: &serde_json::Value| -> Vec<String> {
        rows(&done["documents"]).iter().map(|one| text(&one["document"]["path"])).collect()
    };
    assert_eq!(paths(&done), ["manual/index.md", "pumps/manual/index.md"]);
    // Again, and by the folder above: the same two.
    for again in [world.json("ingest", &given), world.json("ingest", &[&folder])] {
        assert_eq!(column(&again["documents"], "outcome"), ["unchanged", "unchanged"], "{again}");
        assert_eq!(paths(&again), paths(&done));
    }
}

/// A file of some project; its folder.
fn project(world: &World, folder: &str, name: &str, content: &str) -> String {
    let folder = world.home().join(folder);
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join(name), content).expect("written");
    folder.display().to_string()
}

#[test]
fn a_folder_with_the_same_end_of_path_takes_no_document_of_another() {
    let world = World::new();
    let three = project(&world, "p3/sub", "README.md", "# P3\n\nheron\n");
    project(&world, "p4/docs/sub", "README.md", "# P4\n\nstork\n");
    let four = world.home().join("p4/docs").display().to_string();
    world.json("ingest --category three", &[&three]);
    let done = world.json("ingest", &[&four]);
    assert_eq!(column(&done["documents"], "outcome"), ["created"], "{done}");
    let listed = world.json("ingest", &[]);
    let mut paths = column(&listed["documents"], "path");
    paths.sort();
    assert_eq!(paths, ["docs/sub/README.md", "sub/README.md"]);
    assert!(!listed.to_string().contains("source"), "where it was read is told to nobody: {listed}");
    for word in ["heron", "stork"] {
        assert!(rows(&world.json("search", &[word])["hits"]).iter().any(|hit| text(&hit["content"]).contains(word)));
    }
    // Ingested again after a change: each document keeps its path.
    project(&world, "p3/sub", "README.md", "# P3\n\nheron and egret\n");
    for (folder, outcome, path) in [(&three, "updated", "sub/README.md"), (&four, "unchanged", "docs/sub/README.md")] {
        let again = world.json("ingest", &[folder]);
        let row = &again["documents"][0];
        assert_eq!((&row["outcome"], &row["document"]["path"]), (&outcome.into(), &path.into()), "{again}");
        assert_eq!(row["replaced_other"], false);
    }
}

#[test]
fn replacing_a_document_from_another_file_is_reported() {
    let world = World::new();
    let here = project(&world, "a/docs", "README.md", "# A\n\nheron\n");
    let there = project(&world, "b/docs", "README.md", "# A\n\nheron\n");
    world.json("ingest", &[&here]);
    // A folder that moved holds the same documents.
    let moved = world.run("ingest", &[&there]);
    assert!(moved.stdout.starts_with("documents: 0 new, 0 changed, 1 unchanged") && !moved.stdout.contains("place"));
    project(&world, "b/docs", "README.md", "# B\n\nstork\n");
    assert_eq!(
        world.json("ingest", &[&there])["documents"][0]["replaced_other"],
        false,
        "it is the one from there now"
    );
    let told = world.run("ingest", &[&here]);
    assert!(told.stdout.contains("\n  docs/README.md was ingested from another file before"), "{told:?}");
    // As it says, the folder above has room for both.
    let above = world.json("ingest", &[&world.home().join("b").display().to_string()]);
    assert_eq!(above["documents"][0]["document"]["path"], "b/docs/README.md", "{above}");
    assert_eq!(rows(&world.json("ingest", &[])["documents"]).len(), 2);
    // A file that is named twice is one document.
    let twice = world.json("ingest", &[&here, &format!("{here}/README.md")]);
    assert_eq!(column(&twice["documents"], "outcome"), ["unchanged", "unchanged"], "{twice}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_unreadable_folder_is_skipped_like_a_file() {
    let world = World::new();
    let folder = write(&world, "a.md", "# A\n\nheron\n");
    write(&world, "z.md", "# Z\n\nstork\n");
    // A path too long to be opened: permissions would not stop a test that runs as root.
    let deep = |first: &str| (0..10).fold(world.home().join(first), |path, _| path.join("n".repeat(250)));
    std::fs::create_dir_all(deep("docs")).expect("made");
    std::fs::create_dir_all(deep("more")).expect("made");
    std::fs::rename(world.home().join("more"), deep("docs").join("more")).expect("moved");
    let ran = world.run("--json ingest", &[&folder]);
    assert!(ran.exit == 0 && ran.stderr.contains("note: left out: cannot read `"), "{ran:?}");
    let done = ran.json();
    assert_eq!(column(&done["documents"], "outcome"), ["created", "created"]);
    assert_eq!(rows(&done["left_out"]).len(), 1, "{done}");
}

#[cfg(unix)]
#[test]
fn links_are_skipped_and_reported() {
    let world = World::new();
    let folder = write(&world, "a.md", "# A\n\nheron\n");
    let link = |name: &str| std::os::unix::fs::symlink("a.md", world.home().join("docs").join(name)).expect("linked");
    ["1.md", "2.md", "3.md", "4.md", "5.md", "6.md", ".hidden.md"].into_iter().for_each(link);
    std::fs::write(world.home().join("docs/tide.png"), "no document").expect("written");
    std::os::unix::fs::symlink("tide.png", world.home().join("docs/photo.png")).expect("linked");
    std::os::unix::fs::symlink("nowhere", world.home().join("docs/stale")).expect("linked");
    std::os::unix::fs::symlink(world.home(), world.home().join("docs/up")).expect("linked");
    let ran = world.run("--json ingest", &[&folder]);
    let note = "note: left out: 8 links, which are not followed: `docs/1.md`, `docs/2.md`, `docs/3.md`, `docs/4.md`, \
                `docs/5.md` and 3 more\n";
    assert!(ran.exit == 0 && ran.stderr == note, "{ran:?}");
    let done = ran.json();
    assert_eq!((rows(&done["documents"]).len(), rows(&done["left_out"]).len()), (1, 8), "{done}");
}

#[test]
fn a_removed_document_is_not_found_and_may_be_ingested_again() {
    let world = World::new();
    let folder = write(&world, "plan.md", "# Plan\n\nmove the cabinets in october\n");
    write(&world, "rota.md", "# Rota\n\nann on mondays\n");
    world.json("ingest", &[&folder]);
    assert_eq!(world.code(3, "ingest remove docs/plan.md --as agent:t", &[]), "policy.admins_only");
    assert_eq!(world.code(2, "ingest remove docs/nothing.md", &[]), "not_found");
    let removed = world.run("ingest remove docs/plan.md", &[]);
    assert_eq!((removed.exit, removed.stdout.as_str()), (0, "removed docs/plan.md: 1 chunk archived\n"));
    assert_eq!(world.events().last().map(String::as_str), Some("knowledge.removed"));
    assert_eq!(column(&world.json("ingest", &[])["documents"], "path"), ["docs/rota.md"]);
    assert!(!world.json("search cabinets october", &[]).to_string().contains("move the cabinets"));
    assert_eq!(world.code(2, "ingest remove docs/plan.md", &[]), "not_found");
    // Nothing of it was banned, and a draft goes as well.
    let again = world.json("ingest --draft", &[&folder]);
    assert_eq!(column(&again["documents"], "outcome"), ["created", "updated"], "{again}");
    assert_eq!(world.json("ingest remove docs/plan.md", &[])["archived"], 1);
    assert_eq!(column(&world.json("list --store knowledge_drafts", &[])["memories"], "path"), ["docs/rota.md#1"]);
    let back = world.json("ingest", &[&folder]);
    assert_eq!(column(&back["documents"], "outcome"), ["created", "unchanged"], "{back}");
    assert!(world.json("search cabinets october", &[]).to_string().contains("move the cabinets"));
}

#[test]
fn ingest_restores_a_changed_chunk_but_not_a_forgotten_one() {
    let world = World::new();
    let folder = write(&world, "oil.md", "# Oil\n\noil the turbine in spring\n");
    write(&world, "pump.md", "# Pump\n\nprime the pump twice\n");
    world.json("ingest", &[&folder]);
    let by_hand = ["--path", "docs/oil.md#1", "never oil the turbine"];
    world.json("remember --store knowledge_base --kind note --evidence x", &by_hand);
    let mended = world.json("ingest", &[&folder]);
    assert_eq!(column(&mended["documents"], "outcome"), ["updated", "unchanged"], "{mended}");
    let found = world.json("search oil turbine", &[]).to_string();
    assert!(found.contains("in spring") && !found.contains("never"), "{found}");
    // A forgotten chunk is refused, and the document counts only its stored chunks.
    let pump = text(&world.json("search prime pump", &[])["hits"][0]["id"]);
    world.json("forget", &[&pump]);
    for outcome in ["updated", "unchanged"] {
        let refused = world.fails(3, "ingest", &[&folder]);
        assert_eq!((&refused["refused"], &refused["documents"][1]["outcome"]), (&1.into(), &outcome.into()));
        assert_eq!(refused["documents"][1]["document"]["chunks"], 0, "{refused}");
        assert!(refused["documents"][1]["refused"].to_string().contains("policy.forgotten"), "{refused}");
    }
    assert!(!world.json("search prime pump", &[]).to_string().contains("twice"));
}

#[test]
fn document_titles_come_from_the_documents() {
    let world = World::new();
    let folder = write(&world, "bom.md", "\u{feff}# Cranes\n\nthe crane lifts forty tonnes\n");
    write(&world, "front.md", "---\ntitle: Pumps\ntags: [plant]\n---\n\nprime the pump twice\n");
    let words = "several plain words stand here. ".repeat(40);
    write(&world, "sections.md", &format!("## Oil\n\n{words}\n\n## Grease\n\n{words}\n\n### By hand\n\n{words}\n"));
    write(&world, "under.txt", "Rota\n====\n\nann on mondays\n");
    let done = world.json("ingest", &[&folder]);
    let titles: Vec<_> = rows(&done["documents"]).iter().map(|row| text(&row["document"]["title"])).collect();
    assert_eq!(titles, ["Cranes", "Pumps", "Oil", "Rota"]);
    let chunks = world.json("list --store knowledge_base", &[]);
    let expected = ["Cranes", "Pumps", "Oil", "Grease", "Grease > By hand", "Rota"];
    assert_eq!(column(&chunks["memories"], "title"), expected, "{chunks}");
    assert!(world.json("search prime pump", &[]).to_string().contains("tags: [plant]"));
}
