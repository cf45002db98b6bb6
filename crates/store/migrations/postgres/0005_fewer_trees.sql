-- The same content is only looked for among what has no path.
drop index memories_by_hash;
create index memories_by_hash on memories (tenant, scope, sha256) where state = 'active' and path is null;
