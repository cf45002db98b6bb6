//! Vector search: the best by dot product, among the nearest by sign bits where there are many vectors.

use engine::ports::CandidateQuery;

use super::search::PartitionView;
use super::sign_bits;
use super::top_ranked::TopRanked;
use super::{dot_product, vector_table::VectorTable};

/// Least number of vectors compared in full. Of 11,000 notes the best sixteen were always among the nearest 2,048.
const KEPT_MIN: usize = 2_048;
/// Vectors compared in full per result asked for.
const KEPT_PER_WANTED: usize = 64;
/// One in this many of all vectors is compared in full: the more there are, the more are near by chance.
const KEPT_ONE_IN: usize = 64;
/// With fewer vectors than this many times the number kept, all are compared: that is exact, and nearly as fast because
/// memory is read in order.
const SCAN_ALL_FACTOR: usize = 16;
/// Distance of a row that is not wanted: above every real distance.
const DISTANCE_EXCLUDED: u16 = u16::MAX;

pub(super) fn top_by_vector(views: &[PartitionView<'_>], find: &CandidateQuery) -> TopRanked {
    let mut top = TopRanked::new(find.pool);
    let Some(query_vector) = &find.vector else { return top };
    // One-shot partitions hold similarities and no vectors.
    for (at, view) in views.iter().enumerate() {
        let nearness = view.part.one_shot.iter().flat_map(|one_shot| &one_shot.nearness).enumerate();
        let near = nearness.filter(|(doc, near)| **near > f32::NEG_INFINITY && view.is_wanted(*doc));
        near.for_each(|(doc, near)| view.offer_doc(&mut top, at, doc, *near));
    }
    let is_comparable = |vectors: &VectorTable| {
        vectors.dimensions > 0
            && vectors.dimensions == query_vector.vector.values.len()
            && vectors.model.as_ref() == Some(&query_vector.model)
    };
    let views: Vec<(usize, &PartitionView<'_>)> =
        views.iter().enumerate().filter(|(_, view)| is_comparable(&view.part.vectors)).collect();
    let query = dot_product::DotQuery::new(&query_vector.vector.values);
    let sign_filter = SignFilter::from_views(&views, &query_vector.vector.values, find.pool);
    for (nth, (at, view)) in views.into_iter().enumerate() {
        let vectors = &view.part.vectors;
        let offer = |doc: usize, product: i32| {
            view.offer_doc(&mut top, at, doc, product as f32 * vectors.scales[doc]);
        };
        match &sign_filter {
            Some(SignFilter { distances, farthest }) => {
                let distances = &distances[nth];
                query.dot_products(&vectors.values, |doc| distances[doc] <= *farthest, offer);
            }
            None => query.dot_products(&vectors.values, |doc| vectors.has_vector(doc) && view.is_wanted(doc), offer),
        }
    }
    top
}

/// Hamming distance of each row of each partition, and the largest distance that is compared in full.
struct SignFilter {
    distances: Vec<Vec<u16>>,
    farthest: u16,
}

impl SignFilter {
    /// `None` where there are few enough to compare all.
    fn from_views(views: &[(usize, &PartitionView<'_>)], query: &[i8], pool: usize) -> Option<SignFilter> {
        let rows = views.iter().map(|(_, view)| view.part.vectors.scales.len()).sum::<usize>();
        let kept = KEPT_MIN.max(pool * KEPT_PER_WANTED).max(rows / KEPT_ONE_IN);
        if rows < kept * SCAN_ALL_FACTOR {
            return None;
        }
        let query_bits: Vec<u64> = sign_bits::sign_words(query).collect();
        // Rows per distance: a counting sort finds the bound without sorting the rows.
        let mut counts = vec![0_usize; query.len() + 1];
        let mut measure = |view: &PartitionView<'_>| {
            let vectors = &view.part.vectors;
            let wanted = |doc: usize| vectors.has_vector(doc) && view.is_wanted(doc);
            let Some(signs) = &vectors.signs else {
                // Sign bits are built after the first search; until then all rows are compared.
                return (0..vectors.scales.len()).map(|doc| if wanted(doc) { 0 } else { DISTANCE_EXCLUDED }).collect();
            };
            let mut distances = sign_bits::hamming_distances(&query_bits, signs);
            for (doc, distance) in distances.iter_mut().enumerate() {
                match wanted(doc) {
                    true => counts[usize::from(*distance)] += 1,
                    false => *distance = DISTANCE_EXCLUDED,
                }
            }
            distances
        };
        let distances = views.iter().map(|(_, view)| measure(view)).collect();
        let mut near = 0;
        let farthest = counts.iter().position(|count| {
            near += count;
            near >= kept
        });
        Some(SignFilter { distances, farthest: farthest.unwrap_or(query.len()) as u16 })
    }
}

#[cfg(test)]
mod tests {
    use engine::model::vector::{Embedding, Vector};
    use engine::model::vocabulary::{Kind, Layer, State, Trust};

    use super::super::partition::{DocMeta, IndexedRow, Partition};
    use super::*;

    const DIMENSIONS: usize = 256;

    /// The same numbers each time, all over the range and with no pattern.
    fn noise(seed: u64) -> impl FnMut() -> i32 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as i32 % 128
        }
    }

    /// One of three hundred subjects, and as much that is its own.
    fn vector(number: u64) -> Vector {
        let (mut subject, mut own) = (noise(number % 300 + 1), noise(number + 1_000_000));
        Vector { scale: 1.0, values: (0..DIMENSIONS).map(|_| ((subject() + own()) / 2) as i8).collect() }
    }

    fn part(rows: u64) -> Partition {
        let mut part = Partition::default();
        part.vectors.model = Some("m".to_owned());
        for number in 0..rows {
            let meta = DocMeta::new(State::Active, Kind::Note, Layer::Semantic, Trust::AgentDraft);
            let bytes = vector(number).to_bytes();
            let memory = u128::from(number).to_be_bytes();
            part.put_row(IndexedRow { memory, meta, number: 1, author: None, words: &[], vector: Some(&bytes) }, false);
        }
        part
    }

    fn best(part: &Partition, query: u64, pool: usize) -> Vec<[u8; 16]> {
        let vector = Some(Embedding { model: "m".to_owned(), vector: vector(query) });
        let find = CandidateQuery { vector, pool, ..CandidateQuery::default() };
        top_by_vector(&[PartitionView::whole(part)], &find).into_sorted().iter().map(|ranked| ranked.memory).collect()
    }

    #[test]
    fn the_nearest_by_signs_hold_the_best_by_product() {
        [33_000, 40_000].into_iter().for_each(hold_the_best_of);
    }

    fn hold_the_best_of(rows: u64) {
        let (mut part, pool) = (part(rows), 20);
        let queries = 50_000..50_020;
        let exact: Vec<_> = queries.clone().map(|query| best(&part, query, pool)).collect();
        part.sort_and_sign();
        let (mut found, mut wanted) = (0, 0);
        for (query, exact) in queries.zip(&exact) {
            let chosen = best(&part, query, pool);
            found += exact.iter().filter(|memory| chosen.contains(memory)).count();
            wanted += exact.len();
        }
        assert_eq!(wanted, 20 * pool);
        assert!(found * 1_000 >= wanted * 995, "{found} of {wanted} among {rows}");
        // Rows that come later have signs too.
        let signs = |part: &Partition| part.vectors.signs.as_ref().map(Vec::len);
        let meta = DocMeta::new(State::Active, Kind::Note, Layer::Semantic, Trust::AgentDraft);
        let (memory, bytes) = ([255; 16], vector(60_000).to_bytes());
        part.put_row(IndexedRow { memory, meta, number: 1, author: None, words: &[], vector: Some(&bytes) }, false);
        assert_eq!(signs(&part), Some((rows as usize + 1) * 4));
        assert_eq!(best(&part, 60_000, 1), [memory]);
    }
}
