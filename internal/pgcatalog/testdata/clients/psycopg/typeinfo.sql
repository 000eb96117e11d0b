-- psycopg 3, written after what TypeInfo, EnumInfo, RangeInfo and CompositeInfo ask; and psycopg2's register_composite and register_hstore.
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t WHERE t.oid = to_regtype('numeric') ORDER BY t.oid
;;
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS delimiter
FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid
;;
SELECT name, oid, array_oid, array_agg(label) AS labels
FROM (SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, e.enumlabel AS label
  FROM pg_type t LEFT JOIN pg_enum e ON e.enumtypid = t.oid WHERE t.oid = to_regtype('mood') ORDER BY e.enumsortorder) x
GROUP BY name, oid, array_oid
;;
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS regtype, r.rngsubtype AS subtype_oid
FROM pg_type t JOIN pg_range r ON t.oid = r.rngtypid WHERE t.oid = to_regtype('int4range')
;;
SELECT t.typname AS name, t.oid AS oid, t.typarray AS array_oid, t.oid::regtype::text AS regtype,
  coalesce(a.fnames, '{}') AS field_names, coalesce(a.ftypes, '{}') AS field_types
FROM pg_type t
LEFT JOIN (
  SELECT attrelid, array_agg(attname) AS fnames, array_agg(atttypid) AS ftypes
  FROM (SELECT a.attrelid, a.attname, a.atttypid FROM pg_attribute a JOIN pg_type t ON t.typrelid = a.attrelid
    WHERE t.oid = to_regtype('patients') AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) x
  GROUP BY attrelid
) a ON a.attrelid = t.typrelid
WHERE t.oid = to_regtype('patients')
;;
SELECT t.oid, t.typarray, attname, atttypid, typname, nspname
FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid JOIN pg_attribute a ON attrelid = typrelid
WHERE typname = 'patients' AND nspname = 'public' AND attnum > 0 AND NOT attisdropped ORDER BY attnum
;;
SELECT t.oid, typarray FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid WHERE typname = 'hstore'
