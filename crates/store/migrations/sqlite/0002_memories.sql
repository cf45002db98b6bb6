-- Memories: a narrow row to find them by, over a log of versions that holds everything they say.

-- One row a place: a store and the names its scope carries. The id is never given twice within a tenant.
create table scopes (
  tenant blob not null,
  id integer not null,
  store text not null,
  kind text not null,
  first text not null,
  second text not null,
  -- Moves with every write of a memory here.
  generation integer not null default 0,
  -- Active memories.
  live integer not null default 0 check (live >= 0),
  -- The newest row of `recall` here: whoever keeps a copy compares this.
  recall_seq integer not null default 0,
  primary key (tenant, id),
  unique (tenant, kind, first, second, store),
  foreign key (tenant, store) references stores (tenant, id)
) without rowid;
create index scopes_by_store on scopes (tenant, store);

create table memories (
  tenant blob not null,
  id blob not null check (length(id) = 16),
  scope integer not null,
  state text not null,
  kind text not null,
  layer text not null,
  trust text not null,
  path text,
  sha256 text not null,
  always_inject integer not null,
  importance real not null,
  session text,
  -- Position in its session.
  turn integer,
  expires_at integer,
  created_at integer not null,
  updated_at integer not null,
  number integer not null,
  version blob not null,
  -- Lower-cased, for finding a piece of it.
  summary text not null,
  author text not null,
  -- Sorts by decayed importance at any time: the engine's `lifecycle::fade_key`.
  fade real not null,
  primary key (tenant, id),
  foreign key (tenant, scope) references scopes (tenant, id)
) without rowid;
create unique index memories_by_path on memories (tenant, scope, path) where state = 'active' and path is not null;
create index memories_by_hash on memories (tenant, scope, sha256) where state = 'active';
create index memories_by_time on memories (tenant, scope, state, updated_at, id);
create index memories_by_expiry on memories (tenant, expires_at) where expires_at is not null;
create index memories_by_fade on memories (tenant, scope, fade, id) where state = 'active';
create index memories_by_session on memories (tenant, session, turn) where session is not null;
create index memories_pinned on memories (tenant, scope, updated_at) where always_inject;

-- INVARIANT: content stands here and nowhere else. The snapshot holds every other field.
create table versions (
  tenant blob not null,
  memory blob not null,
  number integer not null check (number > 0),
  id blob not null check (length(id) = 16),
  operation text not null,
  snapshot text not null,
  content text not null,
  sha256 text not null,
  previous blob,
  actor text not null,
  run text,
  conversation text,
  reason text,
  evidence text not null,
  at integer not null,
  redacted_at integer,
  primary key (tenant, memory, number),
  unique (tenant, id),
  foreign key (tenant, memory) references memories (tenant, id)
);

create table tags (
  tenant blob not null,
  memory blob not null,
  tag text not null,
  primary key (tenant, memory, tag),
  foreign key (tenant, memory) references memories (tenant, id)
) without rowid;
create index tags_by_tag on tags (tenant, tag, memory);

-- Counters of recalls, not versioned.
create table recalls (
  tenant blob not null,
  memory blob not null,
  count integer not null,
  last integer not null,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memories (tenant, id)
) without rowid;

-- Holds a row only inside a transaction that redacts or erases: the one way past the triggers below.
create table erasing (
  tenant blob primary key not null references tenants (id),
  at integer not null
) without rowid;

create trigger versions_are_not_rewritten before update on versions
when not exists (select 1 from erasing where tenant = old.tenant)
begin
  select raise(abort, 'versions are never rewritten');
end;

-- Redaction takes text away; who, when and why stay as they were.
create trigger versions_keep_their_story before update on versions
when new.content <> '' or new.redacted_at is null
  or new.tenant is not old.tenant or new.memory is not old.memory or new.number is not old.number
  or new.id is not old.id or new.operation is not old.operation or new.previous is not old.previous
  or new.sha256 is not old.sha256 or new.actor is not old.actor or new.run is not old.run
  or new.conversation is not old.conversation or new.reason is not old.reason
  or new.evidence is not old.evidence or new.at is not old.at
begin
  select raise(abort, 'a redaction only takes text away');
end;

create trigger versions_are_not_deleted before delete on versions
when not exists (select 1 from erasing where tenant = old.tenant)
begin
  select raise(abort, 'versions are never deleted');
end;
