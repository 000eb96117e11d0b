package catalog

// These are the functions of information_schema.
func init() {
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
