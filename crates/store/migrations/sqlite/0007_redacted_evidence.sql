-- What showed a thing may quote it: a redaction takes the words of the evidence too.
drop trigger versions_keep_their_story;
create trigger versions_keep_their_story before update on versions
when new.content <> '' or new.redacted_at is null
  or new.tenant is not old.tenant or new.memory is not old.memory or new.number is not old.number
  or new.id is not old.id or new.operation is not old.operation or new.previous is not old.previous
  or new.sha256 is not old.sha256 or new.actor is not old.actor or new.run is not old.run
  or new.conversation is not old.conversation or new.reason is not old.reason or new.at is not old.at
begin
  select raise(abort, 'a redaction only takes text away');
end;
