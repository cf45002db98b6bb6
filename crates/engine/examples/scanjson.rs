use std::collections::BTreeMap;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut t: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for l in std::fs::read_to_string(&args[1]).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(l).unwrap();
        let text = row["text"].as_str().unwrap();
        let f = engine::safety::inspect(text);
        let want = row.get("label").and_then(|x| x.as_i64()).unwrap_or(1) == 1;
        let got = engine::safety::verdict(&f, engine::safety::Strictness::Strict) == engine::safety::Verdict::Blocked;
        let e = t.entry(row["kind"].as_str().unwrap().to_owned()).or_default();
        e.1 += 1;
        if want == got { e.0 += 1 } else { println!("{}\t{}\t{}\t{}", row["kind"], row["id"], f.first().map(|x| x.rule).unwrap_or(""), text.replace('\n', "⏎").chars().take(230).collect::<String>()); }
    }
    for (k, v) in t { eprintln!("{k:20} {}/{} {:.3}", v.0, v.1, v.0 as f64 / v.1 as f64); }
}
