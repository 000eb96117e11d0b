package inventory

import (
	"regexp"
	"slices"
	"strings"
)

// Reason says why something of PostgreSQL's is refused.
type Reason string

// The reasons. Each goes on after "it".
const (
	Internal       Reason = "is for PostgreSQL's own use"
	NoValues       Reason = "is about a type that has no values here"
	Writes         Reason = "writes, and nothing can be written here"
	Files          Reason = "is about files of the server, and there are none here"
	Sessions       Reason = "is about other sessions, which nobody sees here"
	Statistics     Reason = "is about statistics of the data, which would tell of people"
	Replication    Reason = "is about replication and the write-ahead log, which do not exist here"
	Administration Reason = "administers a server, which the owner does with 'discreet'"
	Random         Reason = "is random, and the catalogue's answers are not"
	Transactions   Reason = "is about numbers of transactions, and nothing is written here"
	Queries        Reason = "runs other queries, or reads tables whole"
	Newer          Reason = "came after PostgreSQL 15, whose catalogue this is"
	Computes       Reason = "computes what clients do not ask a catalogue for"
)

// Reasons are all reasons.
var Reasons = []Reason{Internal, NoValues, Writes, Files, Sessions, Statistics, Replication, Administration, Random, Transactions,
	Queries, Newer, Computes}

// strangeTypes have no values here: no column of the catalogue has one that is not NULL.
var strangeTypes = strings.Fields("point box circle lseg path line polygon inet cidr macaddr macaddr8 varbit money xml tsvector tsquery " +
	"gtsvector tid pg_lsn pg_snapshot txid_snapshot jsonpath anyrange anymultirange anycompatiblerange anycompatiblemultirange " +
	"anyenum pg_mcv_list pg_ndistinct pg_dependencies pg_brin_bloom_summary pg_brin_minmax_multi_summary refcursor timetz " +
	"int4range int8range numrange daterange tsrange tstzrange int4multirange int8multirange nummultirange datemultirange tsmultirange " +
	"tstzmultirange pg_ddl_command bytea")

var internalTypes = strings.Fields("internal cstring cstring[] trigger event_trigger language_handler fdw_handler index_am_handler " +
	"table_am_handler tsm_handler")

// Strange reports whether a type has no values here.
func Strange(name string) bool { return slices.Contains(strangeTypes, strings.TrimSuffix(name, "[]")) }

// rules say by its name why a function is refused. The first that matches counts.
var rules = []struct {
	reason Reason
	names  *regexp.Regexp
}{
	{Random, regexp.MustCompile(`^(random|random_normal|setseed|gen_random_uuid|uuidv4|uuidv7|array_shuffle|array_sample)$`)},
	{Files, regexp.MustCompile(`^(pg_(read|ls|stat)_(binary_)?(file|dir).*|pg_ls_.*|pg_(relation_)?filenode.*|pg_filenode_relation|` +
		`pg_relation_filepath|pg_current_logfile|pg_file.*|pg_hba_file_rules|pg_ident_file_mappings|pg_show_all_file_settings|` +
		`pg_tablespace_databases|pg_config|pg_control_.*)$`)},
	{Replication, regexp.MustCompile(`(_wal_|^pg_wal|_walfile|_wal$|replication|replay|^pg_logical|_slot|_slots$|subscription|publication|` +
		`_lsn|^pg_(is|get)_wal|^pg_(start|stop)_backup|^pg_backup|^pg_promote|restore_point|recovery|^pg_switch|^pg_last_(wal|xact)|` +
		`^pg_stat_get_(wal|archiver|recovery)|commit_timestamp|^pg_xact_commit|last_committed|^pg_get_wal|summariz)`)},
	{Statistics, regexp.MustCompile(`^(pg_stat_(get|reset|clear|have|force).*|pg_stats_.*|pg_(clear|restore)_(relation|attribute)_stats|` +
		`pg_statistics_.*|pg_.*mcv_list.*|pg_ndistinct.*|pg_dependencies.*|pg_get_aios|pg_column_size|pg_column_compression|` +
		`pg_column_toast.*)$`)},
	{Transactions, regexp.MustCompile(`^(txid_.*|pg_(current_)?(xact|snapshot).*|pg_current_xact.*|pg_visible_in_snapshot|age|mxid_age|` +
		`pg_get_multixact.*|pg_prepared_xact|pg_export_snapshot|pg_current_snapshot|xid8?.*)$`)},
	{Sessions, regexp.MustCompile(`^(pg_notify|pg_notification_.*|pg_(cancel|terminate|log)_backend.*|pg_lock_status|pg_isolation_.*|` +
		`pg_safe_snapshot_.*|pg_get_process_.*|pg_get_backend_memory.*|pg_log_.*|pg_get_shmem.*|pg_get_dsm.*|pg_get_loaded.*|` +
		`pg_numa.*|pg_blocking.*|currtid.*|pg_get_wait_events|pg_available_wal.*)$`)},
	{Writes, regexp.MustCompile(`^(nextval|setval|currval|lastval|pg_sequence_.*|pg_get_sequence_data|lo_.*|lo(read|write|import|export)|` +
		`pg_nextoid|gin_clean.*|brin_(summarize|desummarize).*|pg_import_system_.*|pg_extension_config_dump|suppress_redundant.*|` +
		`pg_set_.*|amvalidate|pg_replace.*)$`)},
	{Administration, regexp.MustCompile(`^(pg_reload_conf|pg_rotate_logfile.*|binary_upgrade_.*|pg_trigger_depth|pg_event_trigger_.*|` +
		`pg_jit_available|pg_stop_making.*|pg_collation_actual.*|pg_database_collation.*|pg_import.*|pg_get_catalog_foreign.*|` +
		`pg_identify_object.*|pg_get_object_address|pg_describe_object|pg_maintain.*|pg_.*_configured|pg_get_acl|pg_hba.*)$`)},
	{Queries, regexp.MustCompile(`^(query_to_xml.*|table_to_xml.*|schema_to_xml.*|database_to_xml.*|cursor_to_xml.*|ts_stat|ts_debug.*|` +
		`pg_cursor|pg_prepared_statement|ts_rewrite)$`)},
	{NoValues, regexp.MustCompile(`^(ts_.*|to_ts.*|enum_.*|range_.*|multirange.*|inet_.*|xml.*|get_current_ts_config|pg_ts_.*|.*_tsquery|` +
		`json_to_tsvector|jsonb_to_tsvector|text_to_.*|bit.*|unicode_.*|icu_.*|pg_lsn.*|hostmask|isfinite)$`)},
	{Internal, regexp.MustCompile(`^(bt.*|hash.*|gin.*|gist.*|spg.*|brin.*|RI_FKey.*|.*(handler|sel|joinsel|send|recv|sortsupport|support|` +
		`in|out|validator|_validate)|in_range|.*_larger|.*_smaller|.*_accum.*|.*_combine|.*_(inv|serialize|deserialize|transfn|finalfn)|` +
		`generate_series_.*|.*cmp|.*_pattern_.*|.*hash(extended)?|.*_hash.*|pg_encoding_max_length|information_schema.*|_pg_.*|` +
		`any(element|array|compatible|range|enum|multirange|nonarray).*|pg_get_replica.*|float8_.*|row_security_active|` +
		`pg_nextpower|array_(subscript|sub).*|raw_array.*|jsonb_subscript.*|like_escape|hypothetical.*|fdw.*|trigger.*|` +
		`pg_stat.*|pg_show_.*|pg_get_ruledef.*|plpgsql.*|tsm_.*|.*_in|.*_out|.*_recv|.*_send)$`)},
}

// Why says why a form of a function that is not answered is refused.
func (f *Function) Why() Reason {
	types := append([]string{f.Result}, f.Args...)
	for i := range types {
		types[i] = Type(types[i])
	}
	if slices.ContainsFunc(types, func(t string) bool { return slices.Contains(internalTypes, t) }) {
		return Internal
	}
	for _, r := range rules[:8] {
		if r.names.MatchString(f.Name) {
			return r.reason
		}
	}
	if slices.ContainsFunc(types, Strange) {
		return NoValues
	}
	for _, r := range rules[8:] {
		if r.names.MatchString(f.Name) {
			return r.reason
		}
	}
	if f.Versions == "18" {
		return Newer
	}
	return Computes
}

// Why says why an operator that is not answered is refused.
func (o *Operator) Why() Reason {
	if Strange(o.Left) || Strange(o.Right) || Strange(o.Result) {
		return NoValues
	}
	return Computes
}
