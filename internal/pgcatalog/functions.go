package pgcatalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// function is a function on the catalogue: its signature, and what it does.
type function struct {
	signature string
	do        func(*database, *interpret.Call) (datum.Value, error)
}

var library = func() interpret.Library {
	var out []interpret.Function
	for _, f := range slices.Concat(sessionFunctions, definitionFunctions, privilegeFunctions, propertyFunctions,
		lockFunctions) {
		out = append(out, interpret.Function{Signature: f.signature, Do: func(call *interpret.Call) (datum.Value, error) {
			return f.do(call.Database().(*database), call)
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
	{"pg_cancel_backend(int4) bool", datum.False},
	{"pg_terminate_backend(int4,int8=) bool", datum.False},
	{"pg_blocking_pids(int4) int4[]", datum.List{}},
	{"inet_server_addr|inet_client_addr() inet", nil},
	{"inet_server_port|inet_client_port() int4", nil},
	{"pg_my_temp_schema() oid", datum.Int(0)},
	{"pg_is_other_temp_schema(oid) bool", datum.False},
	{"pg_timezone_names() (name text, abbrev text, utc_offset interval, is_dst bool)", datum.List{
		datum.List{datum.Text("UTC"), datum.Text("UTC"), datum.Text("00:00:00"), datum.False}}},
}

// definitionFunctions are the functions that name, describe and define what is in the catalogue.
var definitionFunctions = []function{
	{"lax format_type(oid,int4) text", formatType},
	{"pg_get_viewdef(oid,bool|int4=) text", func(db *database, call *interpret.Call) (datum.Value, error) {
		return viewdef(db, call, datum.OID(call.Args[0]))
	}},
	{"pg_get_viewdef(text,bool=) text", func(db *database, call *interpret.Call) (datum.Value, error) {
		o, err := db.ParseName(call.Text(0), oid.Regclass)
		if err != nil {
			return nil, err
		}
		return viewdef(db, call, o)
	}},
	{"pg_get_constraintdef(oid,bool=) text", constraintdef},
	{"pg_get_indexdef(oid) text", indexdef},
	{"pg_get_indexdef(oid,int4,bool) text", indexdef},
	{"pg_get_function_arguments(oid) text", func(db *database, call *interpret.Call) (datum.Value, error) {
		types, ok := procColumn(db, call, "proargtypes").(datum.List)
		if !ok {
			return nil, nil
		}
		return datum.Text(nameTypes(db, types)), nil
	}},
	{"pg_get_function_result(oid) text", functionResult},
	{"oidvectortypes(oidvector) text", func(db *database, call *interpret.Call) (datum.Value, error) {
		return call.NewText(nameTypes(db, call.List(0)))
	}},
	{"pg_get_userbyid(oid) name", func(db *database, call *interpret.Call) (datum.Value, error) {
		o := datum.OID(call.Args[0])
		if name, ok := db.roles.name(o); ok {
			return datum.Text(name), nil
		}
		return datum.Text("unknown (OID=" + oid.Format(o) + ")"), nil
	}},
	{"to_regclass(text) regclass", nameFinder(oid.Regclass)},
	{"to_regtype(text) regtype", nameFinder(oid.Regtype)},
	{"to_regproc(text) regproc", nameFinder(oid.Regproc)},
	{"to_regnamespace(text) regnamespace", nameFinder(oid.Regnamespace)},
	{"to_regrole(text) regrole", nameFinder(oid.Regrole)},
	{"obj_description(oid,name=) text", objectDescription},
	{"col_description(oid,int4) text", func(db *database, call *interpret.Call) (datum.Value, error) {
		if call.Int(1) == 0 {
			return nil, nil
		}
		return description(db, call.Args[0], 1259, call.Args[1]), nil
	}},
	{"pg_table_is_visible(oid) bool", tableIsVisible},
	{"pg_type_is_visible(oid) bool", func(db *database, call *interpret.Call) (datum.Value, error) {
		if d := db.schema.rowTypes.Find(datum.OID(call.Args[0])); d != nil {
			return datum.Bool(db.settings.visible(oid.SchemaName(d.Schema))), nil
		}
		return nil, nil
	}},
	{"pg_function_is_visible(oid) bool", func(db *database, call *interpret.Call) (datum.Value, error) {
		if procNames[datum.OID(call.Args[0])] == "" {
			return nil, nil
		}
		return datum.True, nil
	}},
	{"pg_operator_is_visible|pg_opclass_is_visible|pg_opfamily_is_visible|pg_conversion_is_visible(oid) bool", always},
	{"pg_ts_parser_is_visible|pg_ts_dict_is_visible|pg_ts_template_is_visible|pg_ts_config_is_visible(oid) bool", always},
	{"pg_collation_is_visible|pg_statistics_obj_is_visible(oid) bool", always},
	{"pg_size_pretty(numeric) text", func(_ *database, call *interpret.Call) (datum.Value, error) {
		n, _ := call.Args[0].(datum.Numeric)
		whole, ok := n.Int64()
		if small := ok && whole > -10240 && whole < 10240; small || !n.Finite() {
			return call.NewText(n.String() + " bytes")
		}
		return datum.Text(prettySize(whole)), nil
	}},
	{"pg_size_pretty(int8) text", func(_ *database, call *interpret.Call) (datum.Value, error) {
		return datum.Text(prettySize(call.Int(0))), nil
	}},
}

// always is what is visible wherever one looks: pg_catalog is in every search path.
func always(*database, *interpret.Call) (datum.Value, error) { return datum.True, nil }

func formatType(db *database, call *interpret.Call) (datum.Value, error) {
	if call.Args[0] == nil {
		return nil, nil
	}
	mod := int64(-2)
	if call.Args[1] != nil {
		mod = call.Int(1)
	}
	return datum.Text(db.schema.rowTypes.Format(datum.OID(call.Args[0]), mod)), nil
}

func viewdef(db *database, call *interpret.Call, o uint32) (datum.Value, error) {
	rel := db.schema.byOID[o]
	switch {
	case rel == nil || rel.kind != "v":
		return nil, nil
	case !rel.policy:
		return call.NewText("")
	}
	return call.NewText(rel.definition())
}

func constraintdef(db *database, call *interpret.Call) (datum.Value, error) {
	for _, k := range db.schema.constraints {
		if k.oid == datum.OID(call.Args[0]) {
			return call.NewText(k.def())
		}
	}
	return nil, nil
}

// indexdef is an index, or with its number a column of it.
func indexdef(db *database, call *interpret.Call) (datum.Value, error) {
	k := db.schema.indexByOID(datum.OID(call.Args[0]))
	switch {
	case k == nil:
		return nil, nil
	case len(call.Args) == 1:
		return call.NewText(k.indexdef())
	case call.Int(1) == 0 && call.Args[2] == datum.True:
		// With pretty printing, the schema is left out where it is in the search path.
		return call.NewText(strings.Replace(k.indexdef(), " ON public.", " ON ", 1))
	case call.Int(1) == 0:
		return call.NewText(k.indexdef())
	case call.Int(1) == 1:
		return call.NewText(k.columnName())
	}
	return datum.Text(""), nil
}

func functionResult(db *database, call *interpret.Call) (datum.Value, error) {
	result := procColumn(db, call, "prorettype")
	if result == nil {
		return nil, nil
	}
	text := db.schema.rowTypes.Format(datum.OID(result), -2)
	if procColumn(db, call, "proretset") == datum.True {
		text = "SETOF " + text
	}
	return datum.Text(text), nil
}

// procColumn is a column of the function that the first argument is the OID of, or NULL.
func procColumn(db *database, call *interpret.Call, name string) datum.Value {
	rel := db.schema.byName["pg_catalog.pg_proc"]
	for _, t := range rel.Find(rel.column("oid"), datum.Key(nil, call.Args[0])) {
		return t[rel.column(name)]
	}
	return nil
}

// nameTypes writes a list of types as SQL does.
func nameTypes(db *database, list datum.List) string {
	var parts []string
	for _, t := range list {
		parts = append(parts, db.schema.rowTypes.Format(datum.OID(t), -2))
	}
	return strings.Join(parts, ", ")
}

// nameFinder makes a function that finds an object by its name, and is NULL where there is none.
func nameFinder(t uint32) func(*database, *interpret.Call) (datum.Value, error) {
	return func(db *database, call *interpret.Call) (datum.Value, error) {
		o, err := db.ParseName(call.Text(0), t)
		if err != nil {
			return nil, nil
		}
		return datum.Int(o), nil
	}
}

func objectDescription(db *database, call *interpret.Call) (datum.Value, error) {
	if len(call.Args) == 1 {
		return description(db, call.Args[0], 0, datum.Int(0)), nil
	}
	rel := db.schema.byName["pg_catalog."+call.Text(1)]
	if rel == nil {
		return nil, nil
	}
	return description(db, call.Args[0], rel.oid, datum.Int(0)), nil
}

// description is the comment on an object, which the relation class lists, or on a column of it.
func description(db *database, object datum.Value, class uint32, column datum.Value) datum.Value {
	for _, t := range db.schema.byName["pg_catalog.pg_description"].Find(0, datum.Key(nil, object)) {
		if (class == 0 || t[1] == datum.Int(class)) && t[2] == column {
			return t[3]
		}
	}
	return nil
}

func tableIsVisible(db *database, call *interpret.Call) (datum.Value, error) {
	o := datum.OID(call.Args[0])
	if rel := db.schema.byOID[o]; rel != nil {
		return datum.Bool(db.find("", rel.name) == rel), nil
	}
	if db.schema.indexByOID(o) != nil {
		return datum.Bool(db.settings.visible("public")), nil
	}
	return nil, nil
}

// prettySize writes a number of bytes in the unit that leaves fewer than 10240.
func prettySize(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	limit, i := int64(10*1024), 0
	for ; i < len(units)-1 && (n >= limit || n <= -limit); i++ {
		// Half a unit more, which rounds; the first division keeps one bit for it.
		if limit = 20*1024 - 1; i == 0 {
			n >>= 9
		} else {
			n >>= 10
		}
	}
	if i > 0 {
		if n >= 0 {
			n++
		} else {
			n--
		}
		n /= 2
	}
	return strconv.FormatInt(n, 10) + " " + units[i]
}
