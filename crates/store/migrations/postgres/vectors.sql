-- Meaning as pgvector sees it. Run by every migration where the extension is there; changes nothing the second time.
-- The numbers are the engine's bytes, -127 to 127: exact as halves, and so are sums of their products.
create or replace function meaning_of(bytes bytea) returns halfvec
language sql immutable parallel safe
return (
  select array_agg((get_byte(bytes, i) + 128) % 256 - 128 order by i)::real[]::halfvec
  from generate_series(0, octet_length(bytes) - 1) i);

-- A column that makes itself rather than a trigger, which a table spread over a cluster may not have.
do $$
begin
  if exists (select 1 from pg_trigger where tgname = 'recall_meaning' and tgrelid = 'recall'::regclass) then
    drop trigger recall_meaning on recall;
    drop function set_meaning();
    alter table recall drop column meaning;
  end if;
end $$;
alter table recall add column if not exists meaning halfvec generated always as (meaning_of(vector)) stored;

-- An index for the vectors of one model: the dimensions are part of its type. Called when a model is first met.
create or replace function add_model(of_model text, dimensions integer) returns void
language plpgsql security definer as $$
declare
  name text := 'recall_by_meaning_' || left(md5(of_model || '/' || dimensions), 16);
begin
  if dimensions not between 1 and 4000 or to_regclass(quote_ident(name)) is not null then
    return;
  end if;
  -- A model a year is a lot; a hundred are a mistake that every write would pay for.
  if (select count(*) from pg_indexes where tablename = 'recall' and indexname like 'recall\_by\_meaning\_%') >= 8 then
    raise exception 'too many models have vectors here';
  end if;
  execute format(
    'create index if not exists %I on recall using hnsw ((meaning::halfvec(%s)) halfvec_cosine_ops)
     where model = %L and octet_length(vector) = %s', name, dimensions, of_model, dimensions);
end $$;
