-- Projects that were renamed or merged into another one: a side record like the others.
create table projects (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index projects_by_parent on projects (tenant, parent, at, id);
