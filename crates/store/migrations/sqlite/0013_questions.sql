-- Questions put to a person, and whether an answer was used: a side record like the others.
create table questions (
  tenant blob not null references tenants (id),
  id text not null,
  state text not null,
  subject text not null,
  parent text not null,
  at integer not null,
  body text not null,
  primary key (tenant, id)
) without rowid;
create index questions_by_state on questions (tenant, state, at, id);
