-- Digests of what each change wrote, in its log entry and covered by its hash. Null in entries from before.
alter table events add column digests blob;
