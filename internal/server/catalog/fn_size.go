package catalog

// These are the functions that return sizes and places.
func init() {
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
}
