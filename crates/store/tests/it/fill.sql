-- Many memories at once, for plans and measures. Tenant n has the id n, a workspace and forty conversations; a term is
-- the commoner the lower its number. @tenants, @each and @dimensions are put in by whoever runs it.
set search_path = ingrain, public;
-- Made again at the end: building it in one go is quicker.
drop index recall_by_words;
insert into tenants select lpad(to_hex(n), 32, '0')::uuid, 't' || n, 0 from generate_series(1, @tenants) n;
insert into heads select id, 0, '', @each, 41 from tenants;
insert into stores select id, 'conversation_memory', 'open', '', '', 0, '{}' from tenants;
insert into stores select id, 'workspace_runbooks', 'open', '', '', 0, '{}' from tenants;
insert into scopes select id, 1, 'workspace_runbooks', 'workspace', '', '' from tenants;
insert into scopes select id, 1 + c, 'conversation_memory', 'conversation', 'c' || c, ''
  from tenants, generate_series(1, 40) c;
create table numbers as
  select t.id as tenant, n, gen_random_uuid() as memory, gen_random_uuid() as version,
    case when n % 2 = 0 then 1 else 2 + n / 2 % 40 end as scope
  from tenants t, generate_series(1, @each) n;
insert into memories
  select tenant, memory, scope, 'active', 'note', 'semantic', 'agent_draft', 'notes/' || n, md5(memory::text),
    false, 0.5, null, null, null, n, n, 1, version, 'summary ' || n, 'agent:bench', 0
  from numbers;
insert into versions
  select tenant, memory, 1, version, 'create', json_build_object(
    'id', memory, 'tenant', tenant, 'store', case when scope = 1 then 'workspace_runbooks' else 'conversation_memory' end,
    'scope', case when scope = 1 then json_build_object('kind', 'workspace')
      else json_build_object('kind', 'conversation', 'conversation', 'c' || (scope - 1)) end,
    'layer', 'semantic', 'kind', 'note', 'path', 'notes/' || n, 'title', null, 'recall_hint', null,
    'sha256', md5(memory::text), 'size_bytes', 300, 'tags', '[]'::json, 'entities', '[]'::json,
    'metadata', '{}'::json, 'state', 'active', 'trust', 'agent_draft', 'confidence', 0.8, 'importance', 0.5,
    'always_inject', false, 'expires_at', null, 'archived_at', null, 'supersedes', '[]'::json,
    'superseded_by', null, 'role', null, 'session', null, 'author', 'agent:bench', 'version', version,
    'version_number', 1, 'created_at', '2026-01-01T00:00:00Z', 'updated_at', '2026-01-01T00:00:00Z')::text,
    repeat('some words of a memory ', 13), md5(memory::text), null, 'agent:bench', null, null, null, '[]', n
  from numbers;
insert into recall (tenant, memory, scope, seq, number, state, kind, layer, trust, author, updated_at,
    expires_at, once, often, times, len, model, scale, vector)
  select tenant, memory, scope, n, 1, 'active', 'note', 'semantic', 'agent_draft', 'agent:bench', n, null,
    (select array_agg(distinct (power(random(), 3) * 20000)::int + 100) from generate_series(1, 40) where n is not null),
    array[(power(random(), 3) * 90)::int], '\x02', 42, 'bench', 0.001,
    (select string_agg(decode(lpad(to_hex((random() * 255)::int), 2, '0'), 'hex'), '')
     from generate_series(1, @dimensions) where n is not null)
  from numbers;
insert into recalls select tenant, memory, 1, n from numbers where n % 3 = 0;
update scopes s set live = c.live, live_len = c.live * 42
  from (select tenant, scope, count(*) as live from recall group by 1, 2) c
  where s.tenant = c.tenant and s.id = c.scope;
drop table numbers;
create index recall_by_words on recall using gin (lexemes(tenant, scope, once, often)) with (fastupdate = off);
