-- Number of the first log entry that must have digests: an entry without them is damage from there on, not age.
alter table heads add column covered_from bigint not null default 1;
-- The wall hides the rows of all tenants from their owner too.
alter table heads no force row level security;
alter table events no force row level security;
update heads set covered_from = coalesce(
  (select min(e.seq) from events e where e.tenant = heads.tenant and e.digests is not null), event_seq + 1);
alter table events force row level security;
alter table heads force row level security;
