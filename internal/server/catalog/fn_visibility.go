package catalog

// These are the functions that say what can be named without its schema.
func init() {
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
}
