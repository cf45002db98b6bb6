-- Number of the first log entry that must have digests: an entry without them is damage from there on, not age.
alter table heads add column covered_from integer not null default 1;
update heads set covered_from = coalesce(
  (select min(e.seq) from events e where e.tenant = heads.tenant and e.digests is not null), event_seq + 1);
