-- One query to a line, compared with PostgreSQL: columns, types, rows and SQLSTATEs. SELECT may be left out.
'patients' OPERATOR(pg_catalog.~) '^(patients)$' COLLATE pg_catalog.default
'pg_class'::regclass, 'pg_class'::regclass::oid, 1259::regclass, 'pg_catalog.pg_class'::regclass::text, 0::regclass, 'information_schema.tables'::regclass
'nothing'::regclass
'patients'::regclass, '"Odd Table"'::regclass, 'public.patients'::regclass::text
'nothing'::regtype
'array_in'::regproc, 'public'::regnamespace, 'pg_catalog'::regnamespace::oid
to_regclass('nothing'), to_regclass('patients'), to_regtype('int4'), to_regtype('nothing')
format_type(23, NULL), format_type(1043, 14), format_type(1700, 655366), format_type(1009, -1), format_type(0, NULL), format_type(99999, NULL), format_type(1114, 3), format_type(1042, 5), format_type(1560, 3)
SELECT (information_schema._pg_expandarray(ARRAY['a', 'b'])).n
SELECT max(nspname) FROM pg_namespace WHERE nspname = 'public'
SELECT nspname FROM pg_namespace n WHERE EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'patients')
SELECT c.relname, c.tableoid::regclass FROM pg_class c WHERE c.oid = 'patients'::regclass
SELECT nothing
SELECT c.nothing FROM pg_class c
SELECT n.x FROM pg_class c
SELECT oid FROM pg_class a, pg_namespace b
SELECT * FROM nothing
SELECT * FROM pg_catalog.nothing
SELECT * FROM nowhere.nothing
SELECT nothing(1)
SELECT 1::nothing
SELECT relname, count(*) FROM pg_class
SELECT relname FROM pg_class GROUP BY relkind
SELECT relname, relkind, count(*) FROM pg_class GROUP BY oid HAVING oid = 1259
SELECT upper(relname) FROM pg_class WHERE oid = 1259 GROUP BY upper(relname)
SELECT 1 FROM pg_class c JOIN pg_class c ON true
SELECT a.oid FROM pg_class a, pg_class b JOIN pg_namespace n ON n.oid = a.relnamespace
SELECT current_database(), current_schema(), current_schemas(true), current_schemas(false), current_user, session_user, user, current_catalog
SELECT current_setting('nothing.at_all', true), current_setting('server_encoding'), pg_encoding_to_char(6), has_table_privilege('patients', 'select'), has_table_privilege('patients', 'insert'), has_schema_privilege('public', 'usage')
SELECT current_setting('nothing_at_all')
SELECT obj_description('patients'::regclass, 'pg_class'), col_description('patients'::regclass, 2), obj_description('patients'::regclass), pg_get_userbyid(10), pg_table_is_visible('patients'::regclass)
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('visits'::regclass, 'formulary'::regclass) ORDER BY conname
SELECT pg_get_indexdef('patients_pkey'::regclass), pg_get_indexdef('patients_pkey'::regclass, 1, true), pg_get_indexdef('patients_pkey'::regclass, 0, true)
SELECT table_name, column_name, data_type, is_nullable, udt_name, numeric_precision, numeric_scale, datetime_precision, character_octet_length FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1
SELECT grantee, table_name, privilege_type, is_grantable FROM information_schema.table_privileges WHERE table_schema = 'public' ORDER BY 1, 2
SELECT count(*) FROM information_schema.columns WHERE table_schema = 'pg_catalog' AND table_name = 'pg_class'
SELECT atttypid::regtype, attname FROM pg_attribute WHERE attrelid = 'patients'::regclass AND attnum > 0 ORDER BY attnum
SELECT relkind, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY relname COLLATE "C"
SELECT typname, typtype, typcategory, typarray <> 0 FROM pg_type WHERE typname IN ('int4', 'text', '_text', 'patients', '_patients', 'void', 'int4range') ORDER BY typname
SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relname = 'patients' WHERE a.attnum > 0 AND a.attnum = ANY (ARRAY[1, 2]) ORDER BY a.attnum DESC
SELECT c.relname, d.description IS NULL FROM pg_class c LEFT JOIN pg_description d ON d.objoid = c.oid AND d.objsubid = 0 WHERE c.relname IN ('patients', 'patients_pkey') ORDER BY 1
SELECT c.relname FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid WHERE c.relnamespace = 2200 AND c.relkind = 'r' AND i.indrelid IS NULL ORDER BY 1
SELECT DISTINCT ON (nothing) 1
SELECT c.relname, u.attnum, u.n FROM pg_index CROSS JOIN unnest(indkey::int2[]) WITH ORDINALITY AS u(attnum, n) JOIN pg_class c ON c.oid = indrelid WHERE relname = 'patients'
SELECT conname, k FROM pg_constraint CROSS JOIN unnest(conkey) AS k WHERE conname LIKE 'visits%' ORDER BY 1
SELECT conname, k FROM pg_constraint JOIN unnest(conkey) AS k ON k > 0 WHERE conname LIKE 'visits%' ORDER BY 1
SELECT conname, k FROM pg_constraint c JOIN LATERAL (SELECT unnest(conkey) AS k) AS u ON true WHERE conname LIKE 'visits%' ORDER BY 1
SELECT n.nspname, c.relname, u FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace CROSS JOIN unnest(current_schemas(false)) u WHERE relname = 'patients'
SELECT relname FROM (pg_class JOIN pg_namespace n ON n.oid = relnamespace) CROSS JOIN unnest(ARRAY[nspname]) s WHERE relname = 'visits' AND s = 'public'
SELECT oid FROM pg_class JOIN pg_namespace n ON true CROSS JOIN unnest(ARRAY[oid]) s
