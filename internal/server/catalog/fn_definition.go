package catalog

import "strings"

// These are the functions that write definitions.
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
	define("pg_get_expr(pg_node_tree,oid) text", fixed(nil))
	define("pg_get_expr(pg_node_tree,oid,bool) text", fixed(nil))
	define("pg_get_expr(text,oid) text", fixed(nil))
	define("pg_get_expr(text,oid,bool) text", fixed(nil))
	viewdef := func(r *run, a []any, _ []uint32) (any, error) {
		rel := r.c.byOID[oidOf(a[0])]
		if rel == nil || rel.kind != "v" {
			return nil, nil
		}
		if !rel.policy {
			return r.text("")
		}
		return r.text(rel.definition())
	}
	define("pg_get_viewdef(oid) text", viewdef)
	define("pg_get_viewdef(oid,bool) text", viewdef)
	define("pg_get_viewdef(oid,int4) text", viewdef)
	byName := func(r *run, a []any, ts []uint32) (any, error) {
		v, err := r.c.lookupReg(a[0].(string), tRegclass)
		if err != nil {
			return nil, err
		}
		return viewdef(r, []any{v}, ts)
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
	define("pg_get_function_arguments(oid) text", func(r *run, a []any, _ []uint32) (any, error) {
		rel, t := r.proc(a[0])
		if t == nil {
			return nil, nil
		}
		list, _ := t[rel.column("proargtypes")].([]any)
		return r.typeNames(list), nil
	})
	define("pg_get_function_result(oid) text", func(r *run, a []any, _ []uint32) (any, error) {
		rel, t := r.proc(a[0])
		if t == nil {
			return nil, nil
		}
		text := r.c.formatType(oidOf(t[rel.column("prorettype")]), -2)
		if t[rel.column("proretset")] == true {
			text = "SETOF " + text
		}
		return text, nil
	})
	define("oidvectortypes(oidvector) text", func(r *run, a []any, _ []uint32) (any, error) {
		return r.text(r.typeNames(a[0].([]any)))
	})
	define("pg_get_serial_sequence(text,text) text", fixed(nil))
}

// proc is the row of a function in pg_proc, or nil.
func (r *run) proc(oid any) (*relation, tuple) {
	rel := r.c.byName["pg_catalog.pg_proc"]
	for _, i := range r.c.lookup(rel, rel.column("oid"), key(nil, oid)) {
		return rel, r.c.data(rel)[i]
	}
	return rel, nil
}

// typeNames writes a list of types as SQL does.
func (r *run) typeNames(list []any) string {
	var parts []string
	for _, t := range list {
		parts = append(parts, r.c.formatType(oidOf(t), -2))
	}
	return strings.Join(parts, ", ")
}
