-- Spreads everything by tenant. Changes nothing the second time.
-- Policies read a setting, which reaches the workers only as a plain SET LOCAL with this.
do $$
begin
  execute format('alter database %I set citus.propagate_set_commands = ''local''', current_database());
end $$;

-- Whoever adds to a table that stands on every worker must hold the right to change it. No policy lets a change
-- through, so the right alone changes nothing.
do $$
begin
  if not exists (select 1 from pg_dist_partition where logicalrelid = 'tenants'::regclass) then
    alter table tenants enable row level security;
    create policy everybody_reads on tenants for select using (true);
    create policy everybody_adds on tenants for insert with check (true);
    grant update on tenants to ingrain_app;
  end if;
end $$;

-- A table may not refer to one that is spread while it is not spread itself: the foreign keys go and come back.
do $$
declare
  name text;
  step text;
  away text[];
  back text[];
begin
  if not exists (
    select 1 from pg_class c
    left join pg_dist_partition d on d.logicalrelid = c.oid
    where c.relnamespace = 'ingrain'::regnamespace and c.relkind = 'r' and c.relname <> 'migrations' and d.logicalrelid is null
  ) then
    return;
  end if;
  -- One connection a worker, because the foreign keys come back within this transaction.
  set local citus.multi_shard_modify_mode = 'sequential';
  select array_agg(format('alter table %s drop constraint %I', conrelid::regclass, conname)),
    array_agg(format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)))
  into away, back
  from pg_constraint
  where connamespace = 'ingrain'::regnamespace and contype = 'f';
  foreach step in array coalesce(away, '{}') loop
    execute step;
  end loop;
  if not exists (select 1 from pg_dist_partition where logicalrelid = 'tenants'::regclass) then
    perform create_reference_table('tenants');
  end if;
  -- All beside each other: a tenant's rows share a worker.
  for name in
    select c.relname from pg_class c
    left join pg_dist_partition d on d.logicalrelid = c.oid
    where c.relnamespace = 'ingrain'::regnamespace and c.relkind = 'r'
      and c.relname not in ('migrations', 'tenants', 'heads') and d.logicalrelid is null
    order by c.relname
  loop
    if not exists (select 1 from pg_dist_partition where logicalrelid = 'heads'::regclass) then
      perform create_distributed_table('heads', 'tenant');
    end if;
    perform create_distributed_table(name, 'tenant', colocate_with => 'heads');
  end loop;
  foreach step in array coalesce(back, '{}') loop
    execute step;
  end loop;
end $$;

-- Here the tenant has to be named plainly, or every worker is asked.
do $$
begin
  execute replace(
    pg_get_functiondef('recall_by_terms(bigint[], integer[])'::regprocedure), '(r.tenant = here) is true', 'r.tenant = here');
end $$;

-- The owner's functions work on one worker, the tenant's: it has to be named by a plain value.
create or replace function redact_version(
  version_id uuid, of_memory uuid, blanked_snapshot text, blanked_evidence text, at_time bigint
) returns void
language plpgsql security definer as $$
declare
  here uuid := tenant_here();
begin
  update versions
  set content = '', snapshot = blanked_snapshot, evidence = blanked_evidence,
    redacted_at = coalesce(redacted_at, at_time)
  where tenant = here and id = version_id and memory = of_memory;
end $$;

create or replace function erase_place(of_scope bigint) returns bigint
language plpgsql security definer as $$
declare
  here uuid := tenant_here();
  gone uuid[] := (select array_agg(id) from memories where tenant = here and scope = of_scope);
begin
  delete from tags where tenant = here and memory = any(gone);
  delete from recalls where tenant = here and memory = any(gone);
  delete from recall where tenant = here and scope = of_scope;
  delete from versions where tenant = here and memory = any(gone);
  delete from memories where tenant = here and scope = of_scope;
  delete from scopes where tenant = here and id = of_scope;
  return coalesce(cardinality(gone), 0);
end $$;
