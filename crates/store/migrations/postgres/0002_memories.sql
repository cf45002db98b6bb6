-- Memories: a narrow row to find them by, over a log of versions that holds everything they say.

-- One row a place: a store and the names its scope carries. The id is never given twice within a tenant.
create table scopes (
  tenant uuid not null,
  id bigint not null,
  store text collate "C" not null,
  kind text collate "C" not null,
  first text collate "C" not null,
  second text collate "C" not null,
  -- Moves with every write of a memory here.
  generation bigint not null default 0,
  -- Active memories.
  live bigint not null default 0 check (live >= 0),
  -- Counted tokens of the active memories, for how long they are on average.
  live_len bigint not null default 0 check (live_len >= 0),
  primary key (tenant, id),
  unique (tenant, kind, first, second, store),
  foreign key (tenant, store) references stores (tenant, id)
);
create index scopes_by_store on scopes (tenant, store);

create table memories (
  tenant uuid not null,
  id uuid not null,
  scope bigint not null,
  state text collate "C" not null,
  kind text collate "C" not null,
  layer text collate "C" not null,
  trust text collate "C" not null,
  path text collate "C",
  sha256 text collate "C" not null,
  always_inject boolean not null,
  importance double precision not null,
  session text collate "C",
  -- Position in its session.
  turn bigint,
  expires_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  number bigint not null,
  version uuid not null,
  -- Lower-cased, for finding a piece of it.
  summary text not null,
  author text collate "C" not null,
  -- Sorts by decayed importance at any time: the engine's `lifecycle::fade_key`.
  fade double precision not null,
  primary key (tenant, id),
  foreign key (tenant, scope) references scopes (tenant, id)
);
create unique index memories_by_path on memories (tenant, scope, path) where state = 'active' and path is not null;
create index memories_by_hash on memories (tenant, scope, sha256) where state = 'active';
create index memories_by_time on memories (tenant, scope, state, updated_at, id);
create index memories_by_expiry on memories (tenant, expires_at) where expires_at is not null;
create index memories_by_fade on memories (tenant, scope, fade, id) where state = 'active';
create index memories_by_session on memories (tenant, session, turn) where session is not null;
create index memories_pinned on memories (tenant, scope, updated_at) where always_inject;

-- INVARIANT: content stands here and nowhere else. The snapshot holds every other field, as the text it was written.
create table versions (
  tenant uuid not null,
  memory uuid not null,
  number bigint not null check (number > 0),
  id uuid not null,
  operation text collate "C" not null,
  snapshot text not null,
  content text not null,
  sha256 text collate "C" not null,
  previous uuid,
  actor text collate "C" not null,
  run text,
  conversation text,
  reason text,
  evidence text not null,
  at bigint not null,
  redacted_at bigint,
  primary key (tenant, memory, number),
  unique (tenant, id),
  foreign key (tenant, memory) references memories (tenant, id)
);

create table tags (
  tenant uuid not null,
  memory uuid not null,
  tag text collate "C" not null,
  primary key (tenant, memory, tag),
  foreign key (tenant, memory) references memories (tenant, id)
);
create index tags_by_tag on tags (tenant, tag, memory);

-- Counters of recalls, not versioned.
create table recalls (
  tenant uuid not null,
  memory uuid not null,
  count bigint not null,
  last bigint not null,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memories (tenant, id)
);

select raise_wall(name::regclass) from unnest(array['scopes', 'memories', 'versions', 'tags', 'recalls']) name;

-- INVARIANT: the application adds versions and never changes one. Memories go only by erase_place().
grant select, insert, update on scopes, memories, recalls to ingrain_app;
grant select, insert on versions to ingrain_app;
grant select, insert, delete on tags to ingrain_app;

-- Redaction takes text away; who, when and why stay as they were.
create function redact_version(version_id uuid, of_memory uuid, blanked_snapshot text, at_time bigint) returns void
language sql security definer
begin atomic
  update versions
  set content = '', snapshot = blanked_snapshot, redacted_at = coalesce(redacted_at, at_time)
  where tenant = tenant_here() and id = version_id and memory = of_memory;
end;

-- How many memories there are, for `doctor`. The owner may count across the wall, the application may not.
create policy owner_counts on scopes for select to current_user using (true);
create function memory_count() returns bigint
language sql stable security definer
begin atomic
  select coalesce(sum(live), 0)::bigint from scopes;
end;
