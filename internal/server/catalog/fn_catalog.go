package catalog

import "strings"

// These are the functions on the catalogue that have no file of their own.
func init() {
	define("pg_get_userbyid(oid) name", func(r *run, a []any, _ []uint32) (any, error) {
		if name, ok := r.c.roleName(oidOf(a[0])); ok {
			return name, nil
		}
		return "unknown (OID=" + itoa(oidOf(a[0])) + ")", nil
	})
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
	define("pg_partition_root(regclass) regclass", fixed(nil))
	defineSet("pg_partition_ancestors(regclass) regclass", nil, nothing)
	defineSet("pg_partition_tree(regclass) regclass", []Column{{"relid", tRegclass}, {"parentrelid", tRegclass}, {"isleaf", tBool}, {"level", tInt4}}, nothing)
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
	defineSet("pg_get_publication_tables(text) oid", nil, nothing)
	defineSet("pg_listening_channels() text", nil, nothing)
	defineSet("pg_available_extensions() name", []Column{{"name", tName}, {"default_version", tText}, {"comment", tText}}, nothing)
	defineSet("pg_lock_status() text", []Column{{"locktype", tText}, {"pid", tInt4}}, nothing)
	define("pg_typeof(any) regtype", func(r *run, a []any, ts []uint32) (any, error) { return int64(ts[0]), nil }).lax = true
	define("num_nulls(...any) int4", func(r *run, a []any, _ []uint32) (any, error) {
		n := int64(0)
		for _, v := range a {
			if v == nil {
				n++
			}
		}
		return n, nil
	}).lax = true
}
