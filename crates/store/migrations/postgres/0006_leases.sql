-- Who does a piece of a tenant's work now, and until when: a side record like the others.
create table leases (
  tenant uuid not null references tenants (id),
  id text collate "C" not null,
  state text collate "C" not null,
  subject text collate "C" not null,
  parent text collate "C" not null,
  at bigint not null,
  body jsonb not null,
  primary key (tenant, id)
);
create index leases_by_state on leases (tenant, state, at, id);
create index leases_by_subject on leases (tenant, subject, at, id);
create index leases_by_parent on leases (tenant, parent, at, id);

select raise_wall('leases'::regclass);
grant select, insert, update, delete on leases to ingrain_app;
