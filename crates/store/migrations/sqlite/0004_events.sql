-- What happened: numbered without gaps, each entry's hash over the one before.
create table events (
  tenant blob not null references tenants (id),
  seq integer not null check (seq > 0),
  name text not null,
  at integer not null,
  -- Exactly the text the hash was made of.
  happening text not null,
  hash text not null,
  primary key (tenant, seq)
) without rowid;

create trigger events_are_not_rewritten before update on events
begin
  select raise(abort, 'events are never rewritten');
end;

create trigger events_are_not_deleted before delete on events
begin
  select raise(abort, 'events are never deleted');
end;
