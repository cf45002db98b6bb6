-- Making a memory's list of words anew is dear, and a plan for any values made it for every memory and every term.
alter function lexemes(uuid, bigint, integer[], integer[]) cost 10000;

-- As before, but the lists of the inverted index are read term by term: `offset 0` keeps the planner from turning the
-- join round.
create or replace function recall_by_terms(of_scopes bigint[], of_terms integer[])
returns table (
  ord bigint, memory uuid, state text, kind text, layer text, trust text, author text, updated_at bigint,
  expires_at bigint, len integer, tf integer)
language plpgsql stable security definer rows 1000 set enable_seqscan = off as $$
declare
  here uuid := tenant_here();
  places tsquery;
begin
  -- Beyond so many places the list of them is longer than what it saves.
  if cardinality(of_scopes) <= 64 then
    places := (select string_agg(quote_literal(scope_mark(here, s)), ' | ') from unnest(of_scopes) s)::tsquery;
    return query
      select q.ord, f.memory, f.state, f.kind, f.layer, f.trust, f.author, f.updated_at, f.expires_at, f.len,
        coalesce(get_byte(f.times, array_position(f.often, q.term) - 1), 1)
      from unnest(of_terms) with ordinality q (term, ord)
      cross join lateral (
        select r.*
        from recall r
        where lexemes(r.tenant, r.scope, r.once, r.often) @@ quote_literal(term_mark(here, q.term))::tsquery
          and lexemes(r.tenant, r.scope, r.once, r.often) @@ places
          and (r.tenant = here) is true and (r.scope + 0) = any(of_scopes)
        offset 0) f;
  else
    return query
      select q.ord, f.memory, f.state, f.kind, f.layer, f.trust, f.author, f.updated_at, f.expires_at, f.len,
        coalesce(get_byte(f.times, array_position(f.often, q.term) - 1), 1)
      from unnest(of_terms) with ordinality q (term, ord)
      cross join lateral (
        select r.*
        from recall r
        where lexemes(r.tenant, r.scope, r.once, r.often) @@ quote_literal(term_mark(here, q.term))::tsquery
          and (r.tenant = here) is true and (r.scope + 0) = any(of_scopes)
        offset 0) f;
  end if;
end $$;
