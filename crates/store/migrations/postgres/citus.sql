-- Spreads everything by tenant. Changes nothing the second time.
-- Policies read a setting, which reaches the workers only as a plain SET LOCAL with this.
do $$
begin
  execute format('alter database %I set citus.propagate_set_commands = ''local''', current_database());
end $$;

do $$
declare
  name text;
begin
  if not exists (select 1 from pg_dist_partition where logicalrelid = 'tenants'::regclass) then
    perform create_reference_table('tenants');
  end if;
  -- In the order of their foreign keys, all beside each other: a tenant's rows share a worker.
  foreach name in array array[
    'heads', 'run_saves', 'stores', 'pipelines', 'seeds', 'reviews', 'receipts', 'usage', 'runs', 'keys', 'bans',
    'certificates', 'documents', 'owners', 'allowed', 'summaries', 'idempotency', 'leases', 'scopes', 'memories', 'versions',
    'tags', 'recalls', 'recall', 'events'
  ] loop
    if not exists (select 1 from pg_dist_partition where logicalrelid = name::regclass) then
      if name = 'heads' then
        perform create_distributed_table(name, 'tenant');
      else
        perform create_distributed_table(name, 'tenant', colocate_with => 'heads');
      end if;
    end if;
  end loop;
end $$;

-- Here the tenant has to be named plainly, or every worker is asked.
do $$
begin
  execute replace(
    pg_get_functiondef('recall_by_terms(bigint[], integer[])'::regprocedure), '(r.tenant = here) is true', 'r.tenant = here');
end $$;
