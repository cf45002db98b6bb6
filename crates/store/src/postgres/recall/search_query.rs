//! Builds the SQL of a search.

use crate::matching;
use engine::model::limits::text_weights::TextWeights;
use engine::model::vocabulary::State;
use engine::policy::{Readable, VisibleCandidates};
use engine::ports::CandidateQuery;

use super::vector_support::VectorSupport;
use crate::postgres::filter;
use crate::postgres::memories::CURRENT_VERSION_JOINS;
use crate::postgres::row_codec::{MEMORY_COLUMNS, Param, Statement, row_limit, to_micros};
use crate::postgres::scopes::{self, push_param};

/// Additional candidates by words: the server's sums round differently, and the engine's formula ranks last.
const WORD_POOL_MARGIN: usize = 24;

/// The statement that chooses candidates by words, vector, time, substring and id, and returns them with the corpus
/// statistics.
pub(super) fn search_statement(
    vectors: &VectorSupport,
    exact_max: u64,
    readable: &Readable,
    find: &CandidateQuery,
) -> Statement {
    let mut params = Vec::new();
    let visible = scopes::visible_scopes(readable, &find.filter, &mut params);
    let counted = filter::statistics_conditions(readable, &find.filter, &mut params);
    let wanted = filter::attribute_conditions(&find.filter, &mut params);
    let parts = SearchQuery { counted, wanted, params };
    parts.build_statement(&visible, vectors, exact_max, readable, find)
}

/// Query for the turns within `reach` of these in the same session, as far as they pass the filter.
pub(super) fn neighbours_query(
    readable: &Readable,
    find: &CandidateQuery,
    reach: u32,
    best: &[engine::model::id::MemoryId],
) -> Statement {
    let mut params = Vec::new();
    let visible = scopes::visible_scopes(readable, &find.filter, &mut params);
    let conditions = filter::filter_conditions(readable, &find.filter, &mut params);
    let ids = push_param(&mut params, best.iter().map(|id| id.0).collect::<Vec<_>>());
    let reach = push_param(&mut params, i64::from(reach));
    let sql = format!(
        "select distinct m.id
         from memories b
         join memories m on m.tenant = $1 and m.scope = b.scope and m.session = b.session
           and m.turn between b.turn - {reach} and b.turn + {reach}
         where b.tenant = $1 and b.id = any({ids}) and m.scope in (select id from ({visible}) seen){conditions}"
    );
    Statement::new(sql, params)
}

/// The parts of a search statement.
struct SearchQuery {
    /// Conditions on a row `m` of `recall`: which memories count in the statistics, and which of those may be chosen.
    counted: String,
    wanted: String,
    params: Vec<Param>,
}

impl SearchQuery {
    fn build_statement(
        mut self,
        visible: &str,
        vectors: &VectorSupport,
        exact_max: u64,
        readable: &Readable,
        find: &CandidateQuery,
    ) -> Statement {
        let table_condition = match matching::needs_memory_table(&find.filter) {
            true => {
                let conditions = filter::table_conditions(&find.filter, &mut self.params);
                format!(
                    " and m.memory in (
                       select m.id
                       from memories m
                       where m.tenant = $1 and m.scope in (select id from seen){conditions})"
                )
            }
            false => String::new(),
        };
        self.wanted += &table_condition;
        let stats = self.stats_sql(find);
        let words = self.words_sql(find);
        // Each pick carries a letter for its reason: words, vector, newest, substring, always included.
        let mut picks = vec!["select memory, 'w' as why from scored".to_owned()];
        let meaning = self.vectors_sql(vectors, exact_max, find);
        picks.push("select memory, 'v' from meant".to_owned());
        picks.extend(self.newest_sql(find));
        picks.extend(self.substring_sql(find));
        picks.extend(self.requested_sql(readable, find));
        // From `stats`, so that one row with the statistics is returned even where nothing was found.
        let sql = format!(
            "with seen as materialized ({visible}),
             {stats},
             {words},
             {meaning},
             picked as materialized (
               select memory, array_agg(why) as why
               from ({}) every
               group by memory)
             select {MEMORY_COLUMNS}, c.once, c.often, c.times, c.len, c.model, c.scale, c.vector,
               'w' = any (p.why), 'v' = any (p.why), 'n' = any (p.why), 's' = any (p.why), 'a' = any (p.why),
               stats.docs, stats.total_len,
               (select array_agg(coalesce(df, 0) order by every.ord)
                from generate_series(1, {}) every (ord) left join frequency using (ord)),
               (select count(*) from seen)
             from stats
             left join (
               picked p
               join memories m on m.tenant = $1 and m.id = p.memory
               join recall c on c.tenant = $1 and c.memory = p.memory
               {CURRENT_VERSION_JOINS}
             ) on true",
            picks.join(" union all "),
            push_param(&mut self.params, row_limit(find.words.terms.len())),
        );
        Statement::new(sql, self.params)
    }

    /// Number and total length of the counted memories: from the counters of the scopes, less the expired memories,
    /// where only active ones are asked for; otherwise counted.
    fn stats_sql(&mut self, find: &CandidateQuery) -> String {
        if matching::wanted_states(&find.filter) != [State::Active] {
            return format!(
                "stats as materialized (
                   select count(*) as docs, coalesce(sum(m.len), 0)::bigint as total_len
                   from recall m
                   where m.tenant = $1 and m.scope in (select id from seen){})",
                self.counted
            );
        }
        let expired = match find.filter.unexpired_at {
            None => "select 0 as docs, 0 as total_len".to_owned(),
            Some(at) => format!(
                "select count(*) as docs, coalesce(sum(m.len), 0) as total_len
                 from recall m
                 where m.tenant = $1 and m.state = 'active' and m.expires_at <= {}
                   and m.scope in (select id from seen)",
                push_param(&mut self.params, to_micros(at))
            ),
        };
        format!(
            "stats as materialized (
               select (coalesce(sum(s.live), 0) - min(e.docs))::bigint as docs,
                 (coalesce(sum(s.live_len), 0) - min(e.total_len))::bigint as total_len
               from ({expired}) e
               left join seen s on true)"
        )
    }

    /// Postings of the query's terms, their document frequencies, and the best by BM25: the formula of
    /// `engine::recall::ranking::text`.
    fn words_sql(&mut self, find: &CandidateQuery) -> String {
        let terms: Vec<i32> = find.words.terms.iter().map(|term| term.term.cast_signed()).collect();
        let weights: Vec<f64> = find.words.terms.iter().map(|term| f64::from(term.weight)).collect();
        let (terms, weights) = (push_param(&mut self.params, terms), push_param(&mut self.params, weights));
        let pool =
            // A pool of zero asks for no candidates by words, so it gets no margin either.
            push_param(&mut self.params, row_limit(if find.pool == 0 { 0 } else { find.pool + WORD_POOL_MARGIN }));
        let (counted, wanted) = (&self.counted, &self.wanted);
        let TextWeights { k1, length_min, rarity, .. } = find.weights;
        let [k1, length_min, rarity] = [k1, length_min, rarity].map(|value| push_param(&mut self.params, value));
        // Document frequencies are counted over `posting`, before the other conditions of the filter.
        format!(
            "posting as materialized (
               select m.*
               from recall_by_terms((select array_agg(id) from seen), {terms}) m
               where true{counted}),
             frequency as materialized (
               select ord, count(*) as df
               from posting
               group by ord),
             scale as materialized (
               select docs, greatest(1, total_len::float8 / greatest(docs, 1), {length_min}) as average
               from stats),
             scored as materialized (
               select m.memory
               from posting m
               join frequency f on f.ord = m.ord
               cross join scale s
               where true{wanted}
               group by m.memory, m.updated_at
               order by sum(
                   ({weights})[m.ord]
                   * power(ln(1 + greatest(0, s.docs - f.df + 0.5::float8) / (f.df + 0.5::float8)), {rarity})
                   * m.tf / (m.tf + {k1} * greatest(m.len, {length_min}) / s.average)
                 ) desc, m.updated_at desc, m.memory
               limit {pool})"
        )
    }

    /// The nearest by vector: by the HNSW index where many memories are visible; one by one where few are, or where the
    /// index returned too few.
    fn vectors_sql(&mut self, vectors: &VectorSupport, exact_max: u64, find: &CandidateQuery) -> String {
        let (Some(query_vector), true) = (&find.vector, vectors.is_on()) else {
            return "meant as (select null::uuid as memory where false)".to_owned();
        };
        let dimensions = query_vector.vector.values.len();
        let values: Vec<f32> = query_vector.vector.values.iter().map(|value| f32::from(*value)).collect();
        let [query, model, size] =
            [Param::from(values), Param::from(&query_vector.model), Param::from(dimensions as i32)]
                .map(|param| push_param(&mut self.params, param));
        let (pool, exact) = (
            push_param(&mut self.params, row_limit(find.pool)),
            push_param(&mut self.params, row_limit(exact_max as usize)),
        );
        let condition = format!(
            "m.tenant = $1 and m.scope in (select id from seen) and m.model = {model}
             and octet_length(m.vector) = {size}{}{}",
            self.counted, self.wanted
        );
        // `near` uses the HNSW index, which is built for cosine distance. `every` compares one by one and runs only
        // where `near` was skipped or found too few.
        format!(
            "near as materialized (
               select m.memory
               from recall m
               where {condition} and (select sum(live) from seen) > {exact}
               order by (m.meaning::halfvec({dimensions})) <=> {query}::halfvec({dimensions})
               limit {pool}),
             every as materialized (
               select m.memory
               from recall m
               where {condition} and (select count(*) from near) < {pool}
               order by (case when octet_length(m.vector) = {size} then -(m.meaning <#> {query}::halfvec) end)::real
                   * m.scale desc, m.updated_at desc, m.memory
               limit {pool}),
             meant as (select memory from near union select memory from every)"
        )
    }

    /// The newest memories, for a query without words.
    fn newest_sql(&mut self, find: &CandidateQuery) -> Option<String> {
        (find.newest && find.words.terms.is_empty()).then(|| {
            format!(
                "(select m.memory, 'n'
                  from recall m
                  where m.tenant = $1 and m.scope in (select id from seen){}{}
                  order by m.updated_at desc, m.memory
                  limit {})",
                self.counted,
                self.wanted,
                push_param(&mut self.params, row_limit(find.pool))
            )
        })
    }

    /// The newest memories whose summary line contains the text as typed.
    fn substring_sql(&mut self, find: &CandidateQuery) -> Option<String> {
        let text = find.substring.as_ref()?;
        Some(format!(
            "(select m.memory, 's'
              from recall m
              join memories n on n.tenant = $1 and n.id = m.memory
              where m.tenant = $1 and m.scope in (select id from seen){}{}
                and strpos(n.summary, {}) > 0
              order by m.updated_at desc, m.memory
              limit {})",
            self.counted,
            self.wanted,
            push_param(&mut self.params, text),
            push_param(&mut self.params, row_limit(find.pool))
        ))
    }

    /// The memories that the query always includes, without those hidden from the caller. From every readable scope,
    /// not only those of the filter.
    fn requested_sql(&mut self, readable: &Readable, find: &CandidateQuery) -> Option<String> {
        if find.always_include.is_empty() {
            return None;
        }
        let ids = find.always_include.iter().map(|id| id.0).collect::<Vec<_>>();
        let ids = push_param(&mut self.params, ids);
        let own_condition = match &readable.constrained {
            VisibleCandidates::All => String::new(),
            VisibleCandidates::AuthoredBy(author) => {
                format!(" and (m.state <> 'constrained' or m.author = {})", push_param(&mut self.params, author))
            }
        };
        let everywhere = scopes::visible_scopes(readable, &engine::ports::Filter::default(), &mut self.params);
        Some(format!(
            "select m.id, 'a'
             from memories m
             where m.tenant = $1 and m.id = any({ids}){own_condition}
               and m.scope in (select id from ({everywhere}) everywhere)"
        ))
    }
}
