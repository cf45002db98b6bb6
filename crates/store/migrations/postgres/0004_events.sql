-- What happened: numbered without gaps, each entry's hash over the one before.
create table events (
  tenant uuid not null references tenants (id),
  seq bigint not null check (seq > 0),
  name text collate "C" not null,
  at bigint not null,
  -- Exactly the text the hash was made of.
  happening text not null,
  hash text collate "C" not null,
  primary key (tenant, seq)
);

select raise_wall('events'::regclass);
-- INVARIANT: the log only grows.
grant select, insert on events to ingrain_app;
