-- Who does a piece of a tenant's work now, and until when: a side record like the others.
create table leases (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index leases_by_state on leases (tenant, state, at, id);
create index leases_by_subject on leases (tenant, subject, at, id);
create index leases_by_parent on leases (tenant, parent, at, id);
