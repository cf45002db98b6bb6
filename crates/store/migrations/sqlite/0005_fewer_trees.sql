-- A save pays for every tree it touches, so fewer of them: tags stand in the narrow row, the forward index is reached
-- by the number its memory names, and two indexes cover only what is asked of them.

alter table memories add column tags text not null default '[]';
-- Where its row of `recall` stands.
alter table memories add column recall_seq integer not null default 0;
update memories
set tags = (select json_group_array(t.tag) from tags t where t.tenant = memories.tenant and t.memory = memories.id),
  recall_seq = coalesce(
    (select r.seq from recall r where r.tenant = memories.tenant and r.memory = memories.id), 0);
drop table tags;

-- The same content is only looked for among what has no path.
drop index memories_by_hash;
create index memories_by_hash on memories (tenant, scope, sha256) where state = 'active' and path is null;
-- Only episodes fade.
drop index memories_by_fade;
create index memories_by_fade on memories (tenant, scope, fade, id) where state = 'active' and layer = 'episodic';

create table forward (
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
  foreign key (tenant, scope) references scopes (tenant, id)
) without rowid;
insert into forward
select tenant, scope, seq, memory, number, state, kind, layer, trust, author, updated_at, expires_at, words, model, vector
from recall;
drop table recall;
alter table forward rename to recall;
create index recall_by_model on recall (tenant, model, seq) where state = 'active';
