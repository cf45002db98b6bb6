-- Tenants, where each one's numbering stands, and the side records of one shape.
-- Times are microseconds since 1970, words are the engine's vocabulary. Text compares by bytes, as in SQLite.
-- INVARIANT: the tenant leads every key of every table but `tenants`, so that all of it can be spread by tenant.

-- Without a tenant column, so without a wall: slugs are no secret between servers of one installation.
create table tenants (
  id uuid primary key,
  slug text collate "C" not null unique,
  created_at bigint not null
);

-- The tenant this transaction works for. A forgotten setting is null, which equals nothing: reads find no row.
create function tenant_here() returns uuid
language sql stable parallel safe
return nullif(current_setting('app.tenant', true), '')::uuid;

-- The second wall: whoever reads or writes a table sees the rows of the tenant set for the transaction, and no others.
-- Written out rather than through tenant_here(), so that it runs on a worker of a cluster that knows no functions.
create function raise_wall(name regclass) returns void
language plpgsql as $$
begin
  execute format('alter table %s enable row level security', name);
  execute format('alter table %s force row level security', name);
  execute format(
    'create policy tenant_wall on %s
     using (tenant = nullif(current_setting(''app.tenant'', true), '''')::uuid)
     with check (tenant = nullif(current_setting(''app.tenant'', true), '''')::uuid)', name);
end $$;

-- The last number given of each sequence. Whoever writes for a tenant locks its row first: numbers have no gaps, and
-- a reader that has seen number n has seen everything before it.
create table heads (
  tenant uuid primary key references tenants (id),
  event_seq bigint not null default 0,
  event_hash text not null default '',
  recall_seq bigint not null default 0,
  scope_seq bigint not null default 0
);

-- Saves an unattended run has made.
create table run_saves (
  tenant uuid not null references tenants (id),
  run text collate "C" not null,
  saves bigint not null,
  primary key (tenant, run)
);

select raise_wall(name::regclass) from unnest(array['heads', 'run_saves']) name;
grant select, insert on tenants to ingrain_app;
grant select, insert, update on heads, run_saves to ingrain_app;

-- The side records.
do $$
declare
  name text;
begin
  foreach name in array array[
    'stores', 'pipelines', 'seeds', 'reviews', 'receipts', 'usage', 'runs', 'keys', 'bans', 'certificates',
    'documents', 'owners', 'allowed', 'summaries', 'idempotency'
  ] loop
    execute format(
      'create table %I (
         tenant uuid not null references tenants (id),
         id text collate "C" not null,
         state text collate "C" not null,
         subject text collate "C" not null,
         parent text collate "C" not null,
         at bigint not null,
         body jsonb not null,
         primary key (tenant, id)
       )', name);
    execute format('create index %I on %I (tenant, state, at, id)', name || '_by_state', name);
    execute format('create index %I on %I (tenant, subject, at, id)', name || '_by_subject', name);
    execute format('create index %I on %I (tenant, parent, at, id)', name || '_by_parent', name);
    execute format('grant select, insert, update, delete on %I to ingrain_app', name);
    perform raise_wall(name::regclass);
  end loop;
end $$;
