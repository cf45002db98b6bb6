-- Upkeep asks for what is due, oldest expiry first: only what can still be due stands in this tree, so that what
-- expired long ago costs nothing.
drop index memories_by_expiry;
create index memories_by_expiry on memories (tenant, expires_at, id)
where expires_at is not null and state in ('active', 'constrained');
