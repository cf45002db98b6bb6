-- Questions put to a person, and whether an answer was used: a side record like the others.
create table questions (
  tenant uuid not null references tenants (id),
  id text collate "C" not null,
  state text collate "C" not null,
  subject text collate "C" not null,
  parent text collate "C" not null,
  at bigint not null,
  body jsonb not null,
  primary key (tenant, id)
);
create index questions_by_state on questions (tenant, state, at, id);

select raise_wall('questions'::regclass);
grant select, insert, update, delete on questions to ingrain_app;
