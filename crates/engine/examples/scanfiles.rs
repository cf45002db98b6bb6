use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut total = 0usize; let t = Instant::now(); let mut spent = 0.0;
    let list = std::fs::read_to_string(&args[1]).unwrap();
    let quiet = args.len() > 2;
    for p in list.lines() {
        let Ok(b) = std::fs::read(p) else { continue };
        let text = String::from_utf8_lossy(&b);
        // pieces of at most 8 KB at line ends, like notes
        let mut piece = String::new();
        let mut pieces = Vec::new();
        for l in text.split_inclusive('\n') { if piece.len() + l.len() > 8000 { pieces.push(std::mem::take(&mut piece)); } piece.push_str(l); }
        pieces.push(piece);
        for s in pieces {
            total += s.len();
            let q = Instant::now();
            let f = engine::safety::inspect(&s);
            spent += q.elapsed().as_secs_f64();
            if !quiet { for x in f { if x.rule != "raw_log" {
                let mut a = x.start.saturating_sub(50); while !s.is_char_boundary(a) { a -= 1; }
                let mut e = (x.end + 25).min(s.len()); while !s.is_char_boundary(e) { e += 1; }
                let m: String = s[a..e].chars().take(260).collect();
                println!("{}\t{}\t{}", x.rule, p.rsplit('/').take(2).collect::<Vec<_>>().join("<"), m.replace('\n', "⏎"));
            } } }
        }
    }
    eprintln!("{} bytes, {:.3}s inspect, {:.1} MB/s (wall {:.2})", total, spent, total as f64 / 1e6 / spent, t.elapsed().as_secs_f64());
}
