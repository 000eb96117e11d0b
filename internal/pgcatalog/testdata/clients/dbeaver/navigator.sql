-- DBeaver 22 to 24: equivalents, in our own words, of what its PostgreSQL navigator asks.
SELECT current_schema(), session_user
;;
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE db.datname = 'hospital' AND datallowconn AND NOT datistemplate
;;
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
WHERE n.nspname = 'public' ORDER BY nspname
;;
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')
ORDER BY t.oid
;;
SELECT typcategory FROM pg_catalog.pg_type WHERE 1 <> 1 LIMIT 1
;;
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = 2200 AND c.relkind NOT IN ('i', 'I', 'c') ORDER BY c.relname
;;
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND a.attnum > 0 AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = @patients@
ORDER BY a.attnum
;;
SELECT c.oid, c.*, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description,
  CASE WHEN c.contype = 'c' THEN "substring"(pg_get_constraintdef(c.oid), 7) ELSE NULL END consrc_copy
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE c.conrelid = @visits@ ORDER BY c.conname
;;
SELECT i.*, i.indkey AS keys, c.relname, c.relnamespace, c.relam, c.reltablespace, tc.relname AS tabrelname, dsc.description,
  pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr,
  pg_catalog.pg_relation_size(i.indexrelid) AS index_rel_size, pg_catalog.pg_stat_get_numscans(i.indexrelid) AS index_num_scans
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid
LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid
WHERE i.indrelid = @patients@ ORDER BY tabrelname, c.relname
;;
SELECT i.*, c.relnamespace FROM pg_catalog.pg_inherits i, pg_catalog.pg_class c WHERE i.inhrelid = @patients@ AND c.oid = i.inhparent ORDER BY i.inhseqno
;;
SELECT c.oid, pg_catalog.pg_total_relation_size(c.oid) AS total_rel_size, pg_catalog.pg_relation_size(c.oid) AS rel_size FROM pg_class c WHERE c.relnamespace = 2200 ORDER BY c.relname
;;
SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid WHERE a.rolname = current_user ORDER BY a.rolname
;;
SELECT p.oid AS poid, p.*, pg_catalog.pg_get_expr(p.proargdefaults, 0) AS arg_defaults, d.description
FROM pg_catalog.pg_proc p
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid
WHERE p.pronamespace = 2200 ORDER BY p.proname
;;
SELECT x.oid, x.tgrelid, x.tgname, p.pronamespace AS func_schema_id, d.description, pg_catalog.pg_get_triggerdef(x.oid) AS body
FROM pg_catalog.pg_trigger x LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = x.tgfoid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = x.oid AND d.objsubid = 0
WHERE x.tgrelid = @patients@ AND NOT x.tgisinternal
;;
SELECT c.oid, c.relname, c.relnamespace, c.relkind FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND c.relname ILIKE 'PAT%' AND c.relnamespace IN (2200) ORDER BY c.relname LIMIT 200
;;
SELECT pg_catalog.pg_get_viewdef(@elderly@::oid, true) IS NOT NULL AS has_definition
;;
SELECT e.oid, cfg.tbls, n.nspname AS schema_name, e.* FROM pg_catalog.pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
LEFT JOIN (SELECT ARRAY_AGG(ns.nspname || '.' || cls.relname) tbls, oid_ext FROM (SELECT pg_catalog.unnest(e1.extconfig) oid, e1.oid oid_ext FROM pg_catalog.pg_extension e1) c
  JOIN pg_catalog.pg_class cls ON cls.oid = c.oid JOIN pg_namespace ns ON ns.oid = cls.relnamespace GROUP BY oid_ext) cfg ON cfg.oid_ext = e.oid
WHERE e.extname = 'nothing'
;;
SELECT at.oid, at.* FROM pg_catalog.pg_am at WHERE at.amname = 'btree'
;;
SELECT l.oid, l.* FROM pg_catalog.pg_language l WHERE l.lanname = 'none' ORDER BY l.oid
;;
SELECT sa.datname, sa.usename FROM pg_catalog.pg_stat_activity sa WHERE sa.pid = pg_backend_pid()
