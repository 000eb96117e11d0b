package catalog

// These are the functions that return comments.
func init() {
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
}
