-- Who may call what. Run by every migration.
revoke all on all functions in schema ingrain from public;
grant execute on function tenant_here(), term_mark(uuid, integer), scope_mark(uuid, bigint),
  lexemes(uuid, bigint, integer[], integer[]), recall_by_terms(bigint[], integer[]),
  redact_version(uuid, uuid, text, text, bigint), erase_place(bigint), memory_count() to ingrain_app;

-- The owner's functions find names in these schemas and nowhere a caller could put others.
do $$
declare
  name regprocedure;
begin
  for name in
    select p.oid from pg_proc p where p.pronamespace = 'ingrain'::regnamespace and p.prosecdef
  loop
    execute format('alter function %s set search_path = {path}', name);
  end loop;
  if to_regprocedure('add_model(text, integer)') is not null then
    grant execute on function add_model(text, integer), meaning_of(bytea) to ingrain_app;
  end if;
end $$;
