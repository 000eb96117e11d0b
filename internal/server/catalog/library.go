package catalog

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
)

// function is a function on the catalogue: its signature, and what it does.
type function struct {
	signature string
	do        func(*Catalog, *interpret.Call) (datum.Value, error)
}

// library is what queries can call.
var library = interpret.NewLibrary(bound(sessionFunctions), bound(definitionFunctions), bound(privilegeFunctions), fixedFunctions)

// bound are functions on the catalogue that a query is asked of.
func bound(table []function) []interpret.Function {
	var out []interpret.Function
	for _, f := range table {
		out = append(out, interpret.Function{Signature: f.signature, Do: func(call *interpret.Call) (datum.Value, error) {
			return f.do(call.Database().(*Catalog), call)
		}})
	}
	return out
}

// fixedFunctions return the same whatever they are asked: there are no statistics, sizes, sequences, triggers, partitions or
// publications, and nobody else's sessions can be reached from here.
var fixedFunctions = []interpret.Function{
	{Signature: "pg_relation_size(regclass,text=) int8", Do: interpret.Fixed(datum.Int(0))},
	{Signature: "pg_total_relation_size|pg_table_size|pg_indexes_size(regclass) int8", Do: interpret.Fixed(datum.Int(0))},
	{Signature: "pg_database_size|pg_tablespace_size(oid|name) int8", Do: interpret.Fixed(datum.Int(0))},
	{Signature: "pg_stat_get_numscans|pg_stat_get_live_tuples|pg_stat_get_dead_tuples(oid) int8", Do: interpret.Fixed(datum.Int(0))},
	{Signature: "pg_tablespace_location(oid) text", Do: interpret.Fixed(datum.Text(""))},
	{Signature: "pg_relation_is_publishable(regclass) bool", Do: interpret.Fixed(datum.False)},
	{Signature: "pg_partition_ancestors(regclass) setof regclass", Do: interpret.Fixed(nil)},
	{Signature: "pg_partition_tree(regclass) (relid regclass, parentrelid regclass, isleaf bool, level int4)", Do: interpret.Fixed(nil)},
	{Signature: "pg_options_to_table(text[]) (option_name text, option_value text)", Do: interpret.Fixed(nil)},
	{Signature: "pg_listening_channels() setof text", Do: interpret.Fixed(nil)},
	{Signature: "pg_get_expr(pg_node_tree|text,oid,bool=) text", Do: interpret.Fixed(nil)},
	{Signature: "pg_get_triggerdef|pg_get_ruledef(oid,bool=) text", Do: interpret.Fixed(nil)},
	{Signature: "pg_get_functiondef|pg_get_function_identity_arguments|pg_get_function_sqlbody(oid) text", Do: interpret.Fixed(nil)},
	{Signature: "pg_get_partkeydef|pg_get_partition_constraintdef(oid) text", Do: interpret.Fixed(nil)},
	{Signature: "pg_get_statisticsobjdef|pg_get_statisticsobjdef_columns(oid) text", Do: interpret.Fixed(nil)},
	{Signature: "pg_get_function_arg_default(oid,int4) text", Do: interpret.Fixed(nil)},
	{Signature: "pg_get_serial_sequence(text,text) text", Do: interpret.Fixed(nil)},
	{Signature: "shobj_description(oid,name) text", Do: interpret.Fixed(nil)},
	{Signature: "pg_client_encoding|getdatabaseencoding() name", Do: interpret.Fixed(datum.Text("UTF8"))},
	{Signature: "pg_is_in_recovery|pg_is_wal_replay_paused() bool", Do: interpret.Fixed(datum.False)},
	{Signature: "pg_cancel_backend|pg_terminate_backend(int4) bool", Do: interpret.Fixed(datum.False)},
	{Signature: "pg_blocking_pids(int4) int4[]", Do: interpret.Fixed(datum.List{})},
	{Signature: "pg_advisory_unlock_all() void", Do: interpret.Fixed(datum.Text(""))},
	{Signature: "inet_server_addr|inet_client_addr() inet", Do: interpret.Fixed(nil)},
	{Signature: "inet_server_port|inet_client_port() int4", Do: interpret.Fixed(nil)},
	{Signature: "pg_my_temp_schema() oid", Do: interpret.Fixed(datum.Int(0))},
	{Signature: "pg_is_other_temp_schema(oid) bool", Do: interpret.Fixed(datum.False)},
	{Signature: "pg_timezone_names() (name text, abbrev text, utc_offset interval, is_dst bool)", Do: interpret.Fixed(datum.List{
		datum.List{datum.Text("UTC"), datum.Text("UTC"), datum.Text("00:00:00"), datum.False}})},
}
