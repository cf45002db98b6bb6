-- Projects that were renamed or merged into another one: a side record like the others.
create table projects (
  tenant uuid not null references tenants (id),
  id text collate "C" not null,
  state text collate "C" not null,
  subject text collate "C" not null,
  parent text collate "C" not null,
  at bigint not null,
  body jsonb not null,
  primary key (tenant, id)
);
create index projects_by_parent on projects (tenant, parent, at, id);

select raise_wall('projects'::regclass);
grant select, insert, update, delete on projects to ingrain_app;
