package catalog

import (
	"errors"
	"slices"
	"strings"
)

func asError(err error, e **Error) bool { return errors.As(err, e) }

func lower(v any) string {
	s, _ := v.(string)
	return strings.ToLower(s)
}

func words() []string { return strings.Fields(reservedWords) }

// forget drops the rows that depend on settings.
func (c *Catalog) forget() {
	for _, r := range c.relations {
		if r.name == "pg_settings" || r.name == "pg_stat_activity" {
			r.rows, r.made, r.index = nil, false, nil
		}
	}
}

func oidOf(v any) uint32 {
	n, _ := v.(int64)
	return uint32(n)
}

func (c *Catalog) indexByOID(o uint32) *constraint {
	for _, k := range c.constraints {
		if k.kind != "f" && k.index == o {
			return k
		}
	}
	return nil
}

// kindOf is the relkind of a relation or index that exists, or empty.
func (c *Catalog) exists(o uint32) bool { return c.byOID[o] != nil || c.indexByOID(o) != nil }

func init() {
	define("format_type(oid,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		if a[0] == nil {
			return nil, nil
		}
		mod := int64(-2)
		if m, ok := a[1].(int64); ok {
			mod = m
		}
		return r.c.formatType(oidOf(a[0]), mod), nil
	}).lax = true
	define("pg_get_userbyid(oid) name", func(r *run, a []any, _ []uint32) (any, error) {
		switch oidOf(a[0]) {
		case ownerOID:
			return r.c.owner, nil
		case bootstrapOID:
			return bootstrapName, nil
		case userOID:
			return r.c.session.User, nil
		}
		return "unknown (OID=" + itoa(oidOf(a[0])) + ")", nil
	})
	define("pg_get_expr(pg_node_tree,oid) text", fixed(nil))
	define("pg_get_expr(pg_node_tree,oid,bool) text", fixed(nil))
	define("pg_get_expr(text,oid) text", fixed(nil))
	define("pg_get_expr(text,oid,bool) text", fixed(nil))
	viewdef := func(r *run, o uint32) (any, error) {
		rel := r.c.byOID[o]
		if rel == nil || rel.kind != "v" {
			return nil, nil
		}
		if !rel.policy {
			return r.text("")
		}
		return r.text(rel.definition())
	}
	define("pg_get_viewdef(oid) text", func(r *run, a []any, _ []uint32) (any, error) { return viewdef(r, oidOf(a[0])) })
	define("pg_get_viewdef(oid,bool) text", func(r *run, a []any, _ []uint32) (any, error) { return viewdef(r, oidOf(a[0])) })
	define("pg_get_viewdef(oid,int4) text", func(r *run, a []any, _ []uint32) (any, error) { return viewdef(r, oidOf(a[0])) })
	byName := func(r *run, a []any, _ []uint32) (any, error) {
		v, err := r.c.lookupReg(a[0].(string), tRegclass)
		if err != nil {
			return nil, err
		}
		return viewdef(r, oidOf(v))
	}
	define("pg_get_viewdef(text) text", byName)
	define("pg_get_viewdef(text,bool) text", byName)
	condef := func(r *run, a []any, _ []uint32) (any, error) {
		for _, k := range r.c.constraints {
			if k.oid == oidOf(a[0]) {
				return r.text(k.def())
			}
		}
		return nil, nil
	}
	define("pg_get_constraintdef(oid) text", condef)
	define("pg_get_constraintdef(oid,bool) text", condef)
	define("pg_get_indexdef(oid) text", func(r *run, a []any, _ []uint32) (any, error) {
		if k := r.c.indexByOID(oidOf(a[0])); k != nil {
			return r.text(k.indexdef())
		}
		return nil, nil
	})
	define("pg_get_indexdef(oid,int4,bool) text", func(r *run, a []any, _ []uint32) (any, error) {
		k := r.c.indexByOID(oidOf(a[0]))
		switch {
		case k == nil:
			return nil, nil
		case a[1] == int64(0):
			// With pretty printing, the schema is left out where it is in the search path.
			if a[2] == true {
				return r.text(strings.Replace(k.indexdef(), " ON public.", " ON ", 1))
			}
			return r.text(k.indexdef())
		case a[1] == int64(1):
			return r.text(k.columnName())
		}
		return "", nil
	})
	for _, name := range []string{"pg_get_triggerdef", "pg_get_ruledef", "pg_get_functiondef", "pg_get_function_identity_arguments",
		"pg_get_partkeydef", "pg_get_statisticsobjdef", "pg_get_statisticsobjdef_columns", "pg_get_function_sqlbody", "pg_get_partition_constraintdef"} {
		define(name+"(oid) text", fixed(nil))
	}
	define("pg_get_triggerdef(oid,bool) text", fixed(nil))
	define("pg_get_ruledef(oid,bool) text", fixed(nil))
	define("pg_get_function_arg_default(oid,int4) text", fixed(nil))
	define("pg_get_function_arguments(oid) text", func(r *run, a []any, _ []uint32) (any, error) { return r.procArguments(oidOf(a[0])), nil })
	define("pg_get_function_result(oid) text", func(r *run, a []any, _ []uint32) (any, error) {
		rel := r.c.byName["pg_catalog.pg_proc"]
		for _, i := range r.c.lookup(rel, rel.column("oid"), key(nil, a[0])) {
			t := r.c.data(rel)[i]
			text := r.c.formatType(oidOf(t[rel.column("prorettype")]), -2)
			if t[rel.column("proretset")] == true {
				text = "SETOF " + text
			}
			return text, nil
		}
		return nil, nil
	})
	define("oidvectortypes(oidvector) text", func(r *run, a []any, _ []uint32) (any, error) {
		var parts []string
		for _, t := range a[0].([]any) {
			parts = append(parts, r.c.formatType(oidOf(t), -2))
		}
		return r.text(strings.Join(parts, ", "))
	})
	define("pg_get_serial_sequence(text,text) text", fixed(nil))
	define("pg_sequence_last_value(oid) int8", fixed(nil))
	define("pg_column_is_updatable(regclass,int2,bool) bool", fixed(false))
	define("pg_relation_is_updatable(regclass,bool) int4", fixed(int64(0)))
	define("pg_relation_is_publishable(regclass) bool", fixed(false))
	define("pg_index_column_has_property(regclass,int4,text) bool", fixed(nil))
	define("pg_index_has_property(regclass,text) bool", fixed(nil))
	define("pg_indexam_has_property(oid,text) bool", func(r *run, a []any, _ []uint32) (any, error) {
		if oidOf(a[0]) != 403 {
			return nil, nil
		}
		switch lower(a[1]) {
		case "can_order", "can_unique", "can_multi_col", "can_exclude", "can_include":
			return true, nil
		}
		return nil, nil
	})

	describe := func(r *run, o, class uint32, sub int64) any {
		rel := r.c.byName["pg_catalog.pg_description"]
		for _, i := range r.c.lookup(rel, 0, key(nil, int64(o))) {
			t := r.c.data(rel)[i]
			if (class == 0 || t[1] == int64(class)) && t[2] == sub {
				return t[3]
			}
		}
		return nil
	}
	define("obj_description(oid) text", func(r *run, a []any, _ []uint32) (any, error) { return describe(r, oidOf(a[0]), 0, 0), nil })
	define("obj_description(oid,name) text", func(r *run, a []any, _ []uint32) (any, error) {
		rel := r.c.byName["pg_catalog."+a[1].(string)]
		if rel == nil {
			return nil, nil
		}
		return describe(r, oidOf(a[0]), rel.oid, 0), nil
	})
	define("col_description(oid,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		n := a[1].(int64)
		if n == 0 {
			return nil, nil
		}
		return describe(r, oidOf(a[0]), 1259, n), nil
	})
	define("shobj_description(oid,name) text", fixed(nil))

	visible := func(find func(r *run, o uint32) (string, bool)) func(*run, []any, []uint32) (any, error) {
		return func(r *run, a []any, _ []uint32) (any, error) {
			schema, ok := find(r, oidOf(a[0]))
			if !ok {
				return nil, nil
			}
			return r.c.visible(schema), nil
		}
	}
	define("pg_table_is_visible(oid) bool", func(r *run, a []any, _ []uint32) (any, error) {
		o := oidOf(a[0])
		if rel := r.c.byOID[o]; rel != nil {
			return r.c.find("", rel.name) == rel, nil
		}
		if r.c.indexByOID(o) != nil {
			return r.c.visible("public"), nil
		}
		return nil, nil
	})
	define("pg_type_is_visible(oid) bool", visible(func(r *run, o uint32) (string, bool) {
		if d := r.c.typeOf(o); d != nil {
			return schemaName(d.namespace), true
		}
		return "", false
	}))
	define("pg_function_is_visible(oid) bool", visible(func(r *run, o uint32) (string, bool) { return "pg_catalog", procName(o) != "" }))
	for _, name := range []string{"pg_operator_is_visible", "pg_opclass_is_visible", "pg_opfamily_is_visible", "pg_conversion_is_visible", "pg_collation_is_visible",
		"pg_ts_parser_is_visible", "pg_ts_dict_is_visible", "pg_ts_template_is_visible", "pg_ts_config_is_visible", "pg_statistics_obj_is_visible"} {
		define(name+"(oid) bool", visible(func(*run, uint32) (string, bool) { return "pg_catalog", true }))
	}

	for _, kind := range []struct {
		name string
		t    uint32
	}{{"class", tRegclass}, {"type", tRegtype}, {"proc", tRegproc}, {"procedure", tRegprocedure}, {"namespace", tRegnamespace}, {"role", tRegrole}, {"collation", tRegcollation}} {
		define("to_reg"+kind.name+"(text) reg"+kind.name, func(r *run, a []any, _ []uint32) (any, error) {
			v, err := r.c.lookupReg(a[0].(string), kind.t)
			if err != nil {
				return nil, nil
			}
			return v, nil
		})
	}

	// Sizes and counts do not exist.
	for _, f := range []string{"pg_relation_size(regclass)", "pg_relation_size(regclass,text)", "pg_total_relation_size(regclass)", "pg_table_size(regclass)", "pg_indexes_size(regclass)",
		"pg_database_size(oid)", "pg_database_size(name)", "pg_tablespace_size(oid)", "pg_tablespace_size(name)",
		"pg_stat_get_numscans(oid)", "pg_stat_get_live_tuples(oid)", "pg_stat_get_dead_tuples(oid)", "pg_stat_get_tuples_inserted(oid)", "pg_stat_get_tuples_updated(oid)", "pg_stat_get_tuples_deleted(oid)"} {
		define(f+" int8", fixed(int64(0)))
	}
	define("pg_size_pretty(int8) text", func(r *run, a []any, _ []uint32) (any, error) {
		return r.text(itoa(uint32(max(0, min(a[0].(int64), 1<<31)))) + " bytes")
	})
	define("pg_size_pretty(numeric) text", func(r *run, a []any, _ []uint32) (any, error) { return r.text(formatFloat(a[0].(float64)) + " bytes") })
	define("pg_relation_filenode(regclass) oid", fixed(nil))
	define("pg_relation_filepath(regclass) text", fixed(nil))
	define("pg_tablespace_location(oid) text", fixed(""))
	define("pg_stat_get_backend_idset() int4", fixed(nil))
	define("pg_column_size(any) int4", fixed(int64(0)))

	define("pg_partition_root(regclass) regclass", fixed(nil))
	defineSet("pg_partition_ancestors(regclass) regclass", nil, func(*run, []any, []uint32) ([]any, error) { return nil, nil })
	defineSet("pg_partition_tree(regclass) regclass", []Column{{"relid", tRegclass}, {"parentrelid", tRegclass}, {"isleaf", tBool}, {"level", tInt4}}, func(*run, []any, []uint32) ([]any, error) { return nil, nil })
	defineSet("pg_options_to_table(text[]) text", []Column{{"option_name", tText}, {"option_value", tText}}, func(r *run, a []any, _ []uint32) ([]any, error) {
		var out []any
		for _, v := range a[0].([]any) {
			s, _ := v.(string)
			name, value, ok := strings.Cut(s, "=")
			t := tuple{name, nil}
			if ok {
				t[1] = value
			}
			out = append(out, t)
		}
		return out, nil
	})
	defineSet("aclexplode(aclitem[]) oid", []Column{{"grantor", tOid}, {"grantee", tOid}, {"privilege_type", tText}, {"is_grantable", tBool}}, aclExplode)
	define("acldefault(char,oid) aclitem[]", func(r *run, a []any, _ []uint32) (any, error) {
		owner := r.c.owner
		switch oidOf(a[1]) {
		case userOID:
			owner = aclName(r.c.session.User)
		case bootstrapOID:
			owner = bootstrapName
		}
		switch a[0] {
		case "r":
			return []any{owner + "=arwdDxt/" + owner}, nil
		case "d":
			return []any{"=Tc/" + owner, owner + "=CTc/" + owner}, nil
		case "n":
			return []any{owner + "=UC/" + owner}, nil
		case "f":
			return []any{"=X/" + owner, owner + "=X/" + owner}, nil
		case "l", "T":
			return []any{"=U/" + owner, owner + "=U/" + owner}, nil
		}
		return []any{}, nil
	})
	definePrivileges()

	defineSet("pg_get_publication_tables(text) oid", nil, func(*run, []any, []uint32) ([]any, error) { return nil, nil })
	defineSet("pg_listening_channels() text", nil, func(*run, []any, []uint32) ([]any, error) { return nil, nil })
	defineSet("pg_available_extensions() name", []Column{{"name", tName}, {"default_version", tText}, {"comment", tText}}, func(*run, []any, []uint32) ([]any, error) { return nil, nil })
	defineSet("pg_lock_status() text", []Column{{"locktype", tText}, {"pid", tInt4}}, func(*run, []any, []uint32) ([]any, error) { return nil, nil })

	// of information_schema
	defineSet("_pg_expandarray(anyarray) int4", []Column{{"x", tInt4}, {"n", tInt4}}, func(r *run, a []any, _ []uint32) ([]any, error) {
		var out []any
		for i, v := range a[0].([]any) {
			out = append(out, tuple{v, int64(i + 1)})
		}
		return out, nil
	})
	define("_pg_truetypid(any,any) oid", func(r *run, a []any, _ []uint32) (any, error) {
		if rec, ok := a[0].(*record); ok {
			for i, c := range rec.cols {
				if c.Name == "atttypid" {
					return int64(base(oidOf(rec.vals[i]))), nil
				}
			}
		}
		return nil, nil
	})
	define("_pg_truetypmod(any,any) int4", fixed(int64(-1)))
	define("_pg_char_max_length(oid,int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		if m := a[1].(int64); m >= 4 && (oidOf(a[0]) == tVarchar || oidOf(a[0]) == tBpchar) {
			return m - 4, nil
		}
		return nil, nil
	})
	define("_pg_numeric_precision(oid,int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		return map[uint32]any{tInt2: int64(16), tInt4: int64(32), tInt8: int64(64), tFloat4: int64(24), tFloat8: int64(53)}[oidOf(a[0])], nil
	})
	define("_pg_numeric_precision_radix(oid,int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		return map[uint32]any{tInt2: int64(2), tInt4: int64(2), tInt8: int64(2), tFloat4: int64(2), tFloat8: int64(2), tNumeric: int64(10)}[oidOf(a[0])], nil
	})
	define("_pg_numeric_scale(oid,int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		return map[uint32]any{tInt2: int64(0), tInt4: int64(0), tInt8: int64(0)}[oidOf(a[0])], nil
	})
	define("_pg_datetime_precision(oid,int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		return map[uint32]any{tDate: int64(0), tTime: int64(6), tTimestamp: int64(6), tTimestamptz: int64(6), tInterval: int64(6)}[oidOf(a[0])], nil
	})
}

// procArguments are the types that a function takes.
func (r *run) procArguments(o uint32) any {
	rel := r.c.byName["pg_catalog.pg_proc"]
	for _, i := range r.c.lookup(rel, rel.column("oid"), key(nil, int64(o))) {
		list, _ := r.c.data(rel)[i][rel.column("proargtypes")].([]any)
		var parts []string
		for _, t := range list {
			parts = append(parts, r.c.formatType(oidOf(t), -2))
		}
		return strings.Join(parts, ", ")
	}
	return nil
}

// aclExplode reads aclitems such as ana=r/owner.
func aclExplode(r *run, a []any, _ []uint32) ([]any, error) {
	roles := func(name string) int64 {
		switch strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`) {
		case r.c.owner:
			return ownerOID
		case bootstrapName:
			return bootstrapOID
		case r.c.session.User:
			return userOID
		}
		return 0
	}
	letters := map[byte]string{'a': "INSERT", 'r': "SELECT", 'w': "UPDATE", 'd': "DELETE", 'D': "TRUNCATE", 'x': "REFERENCES", 't': "TRIGGER", 'U': "USAGE", 'C': "CREATE",
		'T': "TEMPORARY", 'c': "CONNECT", 'X': "EXECUTE"}
	var out []any
	for _, v := range a[0].([]any) {
		s, _ := v.(string)
		i := strings.LastIndexByte(s, '=')
		if i < 0 {
			continue
		}
		rights, grantor, _ := strings.Cut(s[i+1:], "/")
		for _, c := range []byte(rights) {
			if p := letters[c]; p != "" {
				out = append(out, tuple{roles(grantor), roles(s[:i]), p, false})
			}
		}
	}
	return out, nil
}

// definePrivileges adds has_..._privilege, with and without a user, by name or OID.
func definePrivileges() {
	kinds := map[string]struct {
		t      uint32
		rights []string
	}{
		"has_table_privilege":                {tRegclass, []string{"select"}},
		"has_any_column_privilege":           {tRegclass, []string{"select"}},
		"has_schema_privilege":               {tRegnamespace, []string{"usage"}},
		"has_database_privilege":             {0, []string{"connect"}},
		"has_function_privilege":             {tRegprocedure, []string{"execute"}},
		"has_language_privilege":             {0, []string{"usage"}},
		"has_sequence_privilege":             {tRegclass, nil},
		"has_tablespace_privilege":           {0, nil},
		"has_type_privilege":                 {tRegtype, []string{"usage"}},
		"has_server_privilege":               {0, nil},
		"has_foreign_data_wrapper_privilege": {0, nil},
	}
	for name, k := range kinds {
		test := func(r *run, object any, t uint32, right any) (any, error) {
			if s, ok := object.(string); ok && k.t != 0 && t != tOid {
				if _, err := r.c.lookupReg(s, k.t); err != nil {
					return nil, err
				}
			}
			if o, ok := object.(int64); ok && k.t == tRegclass && !r.c.exists(uint32(o)) {
				return nil, nil
			}
			for part := range strings.SplitSeq(lower(right), ",") {
				if slices.Contains(k.rights, strings.TrimSpace(part)) {
					return true, nil
				}
			}
			return false, nil
		}
		for _, object := range []string{"text", "oid"} {
			define(name+"("+object+",text) bool", func(r *run, a []any, ts []uint32) (any, error) { return test(r, a[0], ts[0], a[1]) })
			for _, user := range []string{"name", "oid"} {
				define(name+"("+user+","+object+",text) bool", func(r *run, a []any, ts []uint32) (any, error) { return test(r, a[1], ts[1], a[2]) })
			}
		}
	}
	for _, table := range []string{"text", "oid"} {
		for _, column := range []string{"text", "int2"} {
			right := func(v any) (any, error) { return strings.Contains(lower(v), "select"), nil }
			define("has_column_privilege("+table+","+column+",text) bool", func(r *run, a []any, _ []uint32) (any, error) { return right(a[2]) })
			define("has_column_privilege(name,"+table+","+column+",text) bool", func(r *run, a []any, _ []uint32) (any, error) { return right(a[3]) })
		}
	}
	for _, sig := range []string{"name,name,text", "oid,oid,text", "name,oid,text", "oid,name,text", "name,text", "oid,text"} {
		define("pg_has_role("+sig+") bool", func(r *run, a []any, _ []uint32) (any, error) {
			switch v := a[len(a)-2].(type) {
			case string:
				return v == r.c.session.User, nil
			case int64:
				return v == userOID, nil
			}
			return false, nil
		})
	}
	define("row_security_active(oid) bool", fixed(false))
	define("row_security_active(text) bool", fixed(false))
}
