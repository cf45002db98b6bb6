-- What showed a thing may quote it: a redaction takes the words of the evidence too.
drop function redact_version(uuid, uuid, text, bigint);
create function redact_version(
  version_id uuid, of_memory uuid, blanked_snapshot text, blanked_evidence text, at_time bigint
) returns void
language sql security definer
begin atomic
  update versions
  set content = '', snapshot = blanked_snapshot, evidence = blanked_evidence,
    redacted_at = coalesce(redacted_at, at_time)
  where tenant = tenant_here() and id = version_id and memory = of_memory;
end;
