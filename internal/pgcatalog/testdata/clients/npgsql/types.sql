-- Npgsql 6 to 8: equivalents, in our own words, of what it asks to load types when it connects, and of its GetColumnSchema.
SELECT version()
;;
WITH kinds AS (
  SELECT y.oid, y.typname, y.typnamespace, y.typnotnull, y.typrelid, k.relkind,
    CASE p.proname WHEN 'array_recv' THEN 'a' ELSE y.typtype END AS kind,
    CASE WHEN p.proname = 'array_recv' THEN y.typelem
      WHEN y.typtype = 'r' THEN g.rngsubtype
      WHEN y.typtype = 'm' THEN (SELECT r.rngtypid FROM pg_range r WHERE r.rngmultitypid = y.oid)
      WHEN y.typtype = 'd' THEN y.typbasetype END AS inner_oid
  FROM pg_type y LEFT JOIN pg_class k ON k.oid = y.typrelid LEFT JOIN pg_proc p ON p.oid = y.typreceive LEFT JOIN pg_range g ON g.rngtypid = y.oid)
SELECT s.nspname, o.oid, o.typname, o.kind, o.typnotnull, i.oid AS inner_type
FROM kinds o JOIN pg_namespace s ON s.oid = o.typnamespace LEFT JOIN kinds i ON i.oid = o.inner_oid
WHERE o.kind IN ('b', 'r', 'm', 'e', 'd') OR o.kind = 'p' AND o.typname IN ('record', 'void') OR o.kind = 'c' AND o.relkind = 'c'
  OR o.kind = 'a' AND (i.kind IN ('b', 'r', 'm', 'e', 'd') OR i.kind = 'p' AND i.typname IN ('record', 'void') OR i.kind = 'c' AND i.relkind = 'c')
ORDER BY CASE o.kind WHEN 'b' THEN 0 WHEN 'e' THEN 0 WHEN 'p' THEN 0 WHEN 'r' THEN 1 WHEN 'm' THEN 2 WHEN 'c' THEN 3 WHEN 'd' THEN 4 ELSE 5 END, o.oid
;;
SELECT y.oid, f.attname, f.atttypid
FROM pg_attribute f JOIN pg_type y ON y.typrelid = f.attrelid JOIN pg_class k ON k.oid = y.typrelid JOIN pg_namespace s ON s.oid = y.typnamespace
WHERE y.typtype = 'c' AND k.relkind = 'c' AND f.attnum > 0 AND NOT f.attisdropped
ORDER BY y.oid, f.attnum
;;
SELECT y.oid, e.enumlabel FROM pg_enum e JOIN pg_type y ON y.oid = e.enumtypid ORDER BY y.oid, e.enumsortorder
;;
SELECT s.nspname, k.relname, f.attname, f.attnum, f.attrelid, y.typname, f.attnotnull, f.atttypmod, f.attidentity != '' AS identity, pg_get_expr(v.adbin, v.adrelid) AS default_value
FROM pg_attribute f JOIN pg_type y ON y.oid = f.atttypid JOIN pg_class k ON k.oid = f.attrelid JOIN pg_namespace s ON s.oid = k.relnamespace
LEFT OUTER JOIN pg_attrdef v ON v.adrelid = k.oid AND v.adnum = f.attnum
WHERE f.atttypid <> 0 AND k.relkind IN ('r', 'v', 'm') AND NOT f.attisdropped AND f.attnum > 0 AND s.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY k.relname, f.attnum
