-- The forward index: what each memory is found by.
create table recall (
  tenant uuid not null,
  memory uuid not null,
  scope bigint not null,
  -- Grows with every write of a tenant: what came before what.
  seq bigint not null,
  number bigint not null,
  state text collate "C" not null,
  kind text collate "C" not null,
  layer text collate "C" not null,
  trust text collate "C" not null,
  author text collate "C" not null,
  updated_at bigint not null,
  expires_at bigint,
  -- The engine's Words: the terms it says once, those it says often, how often (a byte each), and its length.
  -- Few terms are said twice, so the look-up of a count reads little.
  once integer[] not null,
  often integer[] not null,
  times bytea not null,
  len integer not null,
  -- Null where there is no vector: the model, the engine's scale, and one byte a dimension.
  model text collate "C",
  scale real,
  vector bytea,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memories (tenant, id)
);
create index recall_by_scope on recall (tenant, scope, state);
create index recall_by_model on recall (tenant, model, seq) where state = 'active';


-- What expired and was not put away yet: subtracted from the counters of its scope.
create index recall_by_expiry on recall (tenant, expires_at) where state = 'active' and expires_at is not null;

-- A term or a place as it stands in the inverted index: marked with its tenant, so that the list of one tenant's word
-- is never as long as everybody's. Marks may collide; the tenant is always asked for too.
create function term_mark(of_tenant uuid, term integer) returns text
language sql immutable parallel safe
return 'w' || right(of_tenant::text, 8) || to_hex(term);

create function scope_mark(of_tenant uuid, of_scope bigint) returns text
language sql immutable parallel safe
return 's' || right(of_tenant::text, 8) || of_scope::text;

create function lexemes(of_tenant uuid, of_scope bigint, once integer[], often integer[]) returns tsvector
language sql immutable parallel safe
return array_to_tsvector(
  array_prepend(
    scope_mark(of_tenant, of_scope),
    (select coalesce(array_agg(term_mark(of_tenant, term)), '{}') from unnest(once || often) term)));
-- Without a list of pending entries: readers would have to scan it.
create index recall_by_words on recall using gin (lexemes(tenant, scope, once, often)) with (fastupdate = off);

select raise_wall('recall'::regclass);
-- A search of words cannot use its index behind the wall, because its operator might tell of rows it is shown. So
-- the owner looks, in the function below, and names the tenant himself.
create policy owner_looks on recall for select to current_user using (true);
grant select, insert, update on recall to ingrain_app;

-- Deletes a place with its history. The number goes too: a place of the same names starts anew under another.
create function erase_place(of_scope bigint) returns bigint
language plpgsql security definer as $$
declare
  erased bigint;
begin
  delete from tags where tenant = tenant_here() and memory in
    (select id from memories where tenant = tenant_here() and scope = of_scope);
  delete from recalls where tenant = tenant_here() and memory in
    (select id from memories where tenant = tenant_here() and scope = of_scope);
  delete from recall where tenant = tenant_here() and scope = of_scope;
  delete from versions where tenant = tenant_here() and memory in
    (select id from memories where tenant = tenant_here() and scope = of_scope);
  delete from memories where tenant = tenant_here() and scope = of_scope;
  get diagnostics erased = row_count;
  delete from scopes where tenant = tenant_here() and id = of_scope;
  return erased;
end $$;

-- Which memories of these places say which of these terms, and how often.
-- Conditions that another index could take are wrapped, and scans of the whole table are off: one list of the inverted
-- index a term is always the best plan, and the planner, which cannot know how rare a term is, does not always see it.
-- The places are a condition of their own, because the index answers `term & (place | place)` with "perhaps".
create function recall_by_terms(of_scopes bigint[], of_terms integer[])
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
      select q.ord, r.memory, r.state, r.kind, r.layer, r.trust, r.author, r.updated_at, r.expires_at, r.len,
        coalesce(get_byte(r.times, array_position(r.often, q.term) - 1), 1)
      from unnest(of_terms) with ordinality q (term, ord)
      join recall r
        on lexemes(r.tenant, r.scope, r.once, r.often) @@ quote_literal(term_mark(here, q.term))::tsquery
        and lexemes(r.tenant, r.scope, r.once, r.often) @@ places
      where (r.tenant = here) is true and (r.scope + 0) in (select unnest(of_scopes));
  else
    return query
      select q.ord, r.memory, r.state, r.kind, r.layer, r.trust, r.author, r.updated_at, r.expires_at, r.len,
        coalesce(get_byte(r.times, array_position(r.often, q.term) - 1), 1)
      from unnest(of_terms) with ordinality q (term, ord)
      join recall r
        on lexemes(r.tenant, r.scope, r.once, r.often) @@ quote_literal(term_mark(here, q.term))::tsquery
      where (r.tenant = here) is true and (r.scope + 0) in (select unnest(of_scopes));
  end if;
end $$;
