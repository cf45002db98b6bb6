-- Tenants, where each one's numbering stands, and the side records of one shape.
-- Ids are 16-byte UUIDs or words of the engine, times are microseconds since 1970, words are the engine's vocabulary.

create table tenants (
  id blob primary key not null check (length(id) = 16),
  slug text not null unique,
  created_at integer not null
) without rowid;

-- The last number given of each sequence. Numbers are given inside the writing transaction, so none is ever skipped.
create table heads (
  tenant blob primary key not null references tenants (id),
  event_seq integer not null default 0,
  event_hash text not null default '',
  recall_seq integer not null default 0,
  scope_seq integer not null default 0
) without rowid;

-- Saves an unattended run has made.
create table run_saves (
  tenant blob not null references tenants (id),
  run text not null,
  saves integer not null,
  primary key (tenant, run)
) without rowid;

create table stores (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index stores_by_state on stores (tenant, state, at, id);
create index stores_by_subject on stores (tenant, subject, at, id);
create index stores_by_parent on stores (tenant, parent, at, id);

create table pipelines (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index pipelines_by_state on pipelines (tenant, state, at, id);
create index pipelines_by_subject on pipelines (tenant, subject, at, id);
create index pipelines_by_parent on pipelines (tenant, parent, at, id);

create table seeds (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index seeds_by_state on seeds (tenant, state, at, id);
create index seeds_by_subject on seeds (tenant, subject, at, id);
create index seeds_by_parent on seeds (tenant, parent, at, id);

create table reviews (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index reviews_by_state on reviews (tenant, state, at, id);
create index reviews_by_subject on reviews (tenant, subject, at, id);
create index reviews_by_parent on reviews (tenant, parent, at, id);

create table receipts (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index receipts_by_state on receipts (tenant, state, at, id);
create index receipts_by_subject on receipts (tenant, subject, at, id);
create index receipts_by_parent on receipts (tenant, parent, at, id);

create table usage (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index usage_by_state on usage (tenant, state, at, id);
create index usage_by_subject on usage (tenant, subject, at, id);
create index usage_by_parent on usage (tenant, parent, at, id);

create table runs (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index runs_by_state on runs (tenant, state, at, id);
create index runs_by_subject on runs (tenant, subject, at, id);
create index runs_by_parent on runs (tenant, parent, at, id);

create table keys (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index keys_by_state on keys (tenant, state, at, id);
create index keys_by_subject on keys (tenant, subject, at, id);
create index keys_by_parent on keys (tenant, parent, at, id);

create table bans (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index bans_by_state on bans (tenant, state, at, id);
create index bans_by_subject on bans (tenant, subject, at, id);
create index bans_by_parent on bans (tenant, parent, at, id);

create table certificates (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index certificates_by_state on certificates (tenant, state, at, id);
create index certificates_by_subject on certificates (tenant, subject, at, id);
create index certificates_by_parent on certificates (tenant, parent, at, id);

create table documents (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index documents_by_state on documents (tenant, state, at, id);
create index documents_by_subject on documents (tenant, subject, at, id);
create index documents_by_parent on documents (tenant, parent, at, id);

create table owners (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index owners_by_state on owners (tenant, state, at, id);
create index owners_by_subject on owners (tenant, subject, at, id);
create index owners_by_parent on owners (tenant, parent, at, id);

create table allowed (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index allowed_by_state on allowed (tenant, state, at, id);
create index allowed_by_subject on allowed (tenant, subject, at, id);
create index allowed_by_parent on allowed (tenant, parent, at, id);

create table summaries (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index summaries_by_state on summaries (tenant, state, at, id);
create index summaries_by_subject on summaries (tenant, subject, at, id);
create index summaries_by_parent on summaries (tenant, parent, at, id);

create table idempotency (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index idempotency_by_state on idempotency (tenant, state, at, id);
create index idempotency_by_subject on idempotency (tenant, subject, at, id);
create index idempotency_by_parent on idempotency (tenant, parent, at, id);
