-- The forward index: what each memory is found by. A write puts a memory's row under a fresh number, so that
-- whoever keeps a scope in memory reads only what is newer than its copy. A memory that went leaves an empty row.
create table recall (
  tenant blob not null,
  scope integer not null,
  seq integer not null,
  memory blob not null,
  number integer not null,
  state text not null,
  kind text not null,
  layer text not null,
  trust text not null,
  author text not null,
  updated_at integer not null,
  expires_at integer,
  words blob not null,
  -- Null where there is no vector.
  model text,
  vector blob,
  primary key (tenant, scope, seq),
  unique (tenant, memory),
  foreign key (tenant, memory) references memories (tenant, id)
) without rowid;
create index recall_by_model on recall (tenant, model, seq) where state = 'active';
