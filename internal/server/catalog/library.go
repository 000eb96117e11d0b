package catalog

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
)

// function is a function on the catalogue: its signature, and what it does.
type function struct {
	signature string
	do        func(*Catalog, *interpret.Call) (datum.Value, error)
}

// library is what queries can call.
var library = func() interpret.Library {
	var out []interpret.Function
	for _, f := range slices.Concat(sessionFunctions, definitionFunctions, privilegeFunctions) {
		out = append(out, interpret.Function{Signature: f.signature, Do: func(call *interpret.Call) (datum.Value, error) {
			return f.do(call.Database().(*Catalog), call)
		}})
	}
	for _, f := range fixedFunctions {
		do := func(*interpret.Call) (datum.Value, error) { return f.value, nil }
		out = append(out, interpret.Function{Signature: f.signature, Do: do})
	}
	return interpret.NewLibrary(out)
}()

// fixedFunctions return the same whatever they are asked: there are no statistics, sizes,
// sequences, triggers, partitions or publications, and nobody else's sessions can be reached from
// here.
var fixedFunctions = []struct {
	signature string
	value     datum.Value
}{
	{"pg_relation_size(regclass,text=) int8", datum.Int(0)},
	{"pg_total_relation_size|pg_table_size|pg_indexes_size(regclass) int8", datum.Int(0)},
	{"pg_database_size|pg_tablespace_size(oid|name) int8", datum.Int(0)},
	{"pg_stat_get_numscans|pg_stat_get_live_tuples|pg_stat_get_dead_tuples(oid) int8", datum.Int(0)},
	{"pg_tablespace_location(oid) text", datum.Text("")},
	{"pg_relation_is_publishable(regclass) bool", datum.False},
	{"pg_partition_ancestors(regclass) setof regclass", nil},
	{"pg_partition_tree(regclass) (relid regclass, parentrelid regclass, isleaf bool, level int4)", nil},
	{"pg_options_to_table(text[]) (option_name text, option_value text)", nil},
	{"pg_listening_channels() setof text", nil},
	{"pg_available_extensions() (name name, default_version text, comment text)", nil},
	{"acldefault(char,oid) aclitem[]", nil},
	{"encode(bytea,text) text", nil},
	{"pg_get_expr(pg_node_tree|text,oid,bool=) text", nil},
	{"pg_get_triggerdef|pg_get_ruledef(oid,bool=) text", nil},
	{"pg_get_functiondef|pg_get_function_identity_arguments|pg_get_function_sqlbody(oid) text", nil},
	{"pg_get_partkeydef|pg_get_partition_constraintdef(oid) text", nil},
	{"pg_get_statisticsobjdef|pg_get_statisticsobjdef_columns(oid) text", nil},
	{"pg_get_function_arg_default(oid,int4) text", nil},
	{"pg_get_serial_sequence(text,text) text", nil},
	{"shobj_description(oid,name) text", nil},
	{"pg_client_encoding|getdatabaseencoding() name", datum.Text("UTF8")},
	{"pg_is_in_recovery|pg_is_wal_replay_paused() bool", datum.False},
	{"pg_cancel_backend|pg_terminate_backend(int4) bool", datum.False},
	{"pg_blocking_pids(int4) int4[]", datum.List{}},
	{"pg_advisory_unlock_all() void", datum.Text("")},
	{"inet_server_addr|inet_client_addr() inet", nil},
	{"inet_server_port|inet_client_port() int4", nil},
	{"pg_my_temp_schema() oid", datum.Int(0)},
	{"pg_is_other_temp_schema(oid) bool", datum.False},
	{"pg_timezone_names() (name text, abbrev text, utc_offset interval, is_dst bool)", datum.List{
		datum.List{datum.Text("UTC"), datum.Text("UTC"), datum.Text("00:00:00"), datum.False}}},
}
