package pgcatalog

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// propertyFunctions are the functions about what relations, columns, indexes and types can do.
var propertyFunctions = []function{
	{"pg_relation_is_updatable(regclass,bool) int4", func(*database, *interpret.Call) (datum.Value, error) { return datum.Int(0), nil }},
	{"pg_column_is_updatable(regclass,int2,bool) bool", func(*database, *interpret.Call) (datum.Value, error) { return datum.False, nil }},
	{"pg_index_has_property(regclass,text) bool", func(db *database, call *interpret.Call) (datum.Value, error) {
		if db.schema.indexByOID(datum.OID(call.Args[0])) == nil {
			return nil, nil
		}
		return property(call.Text(1), "clusterable index_scan bitmap_scan backward_scan", ""), nil
	}},
	{"pg_index_column_has_property(regclass,int4,text) bool", func(db *database, call *interpret.Call) (datum.Value, error) {
		if db.schema.indexByOID(datum.OID(call.Args[0])) == nil || call.Int(1) != 1 {
			return nil, nil
		}
		return property(call.Text(2), "asc nulls_last orderable returnable search_array search_nulls",
			"desc nulls_first distance_orderable"), nil
	}},
	{"pg_indexam_has_property(oid,text) bool", func(_ *database, call *interpret.Call) (datum.Value, error) {
		if call.Int(0) != 403 {
			return nil, nil
		}
		return property(call.Text(1), "can_order can_unique can_multi_col can_exclude can_include", ""), nil
	}},
	{"pg_indexam_progress_phasename(oid,int8) text", none},
	{"pg_get_statisticsobjdef_expressions(oid) text[]", none},
	{"pg_extension_update_paths(name) (source name, target name, path text)", none},
	{"pg_available_extension_versions() (name name, version text, superuser bool, trusted bool, relocatable bool, schema name, " +
		"requires name[], comment text)", none},
	{"pg_timezone_abbrevs() (abbrev text, utc_offset interval, is_dst bool)", func(*database, *interpret.Call) (datum.Value, error) {
		return datum.List{datum.List{datum.Text("UTC"), datum.Text("00:00:00"), datum.False}}, nil
	}},
	{"pg_partition_root(regclass) regclass", none},
	{"lax pg_collation_for(any) text", func(_ *database, call *interpret.Call) (datum.Value, error) {
		if collation(call.Types[0]) == 0 {
			return nil, interpret.Fail("42804", "collations are not supported by type %s", oid.Types(nil).Format(call.Types[0], -1))
		}
		return datum.Text(`"default"`), nil
	}},
	{"pg_settings_get_flags(text) text[]", func(_ *database, call *interpret.Call) (datum.Value, error) { return datum.List{}, nil }},
	{"pg_size_bytes(text) int8", sizeInBytes},
	{"to_regprocedure(text) regprocedure", nameFinder(oid.Regprocedure)},
	{"to_regoper(text) regoper", none}, {"to_regoperator(text) regoperator", none},
	{"to_regcollation(text) regcollation", nameFinder(oid.Regcollation)},
	{"session_user|getpgusername() name", func(db *database, _ *interpret.Call) (datum.Value, error) {
		return datum.Text(db.session.User), nil
	}},
	{"current_query() text", none},
}

// none is for what there is none of here.
func none(*database, *interpret.Call) (datum.Value, error) { return nil, nil }

// property is whether a property of an index is in one list, or NULL where it is in neither.
func property(name, yes, no string) datum.Value {
	name = strings.ToLower(name)
	switch {
	case slices.Contains(strings.Fields(yes), name):
		return datum.True
	case slices.Contains(strings.Fields(no), name):
		return datum.False
	}
	return nil
}

// sizeInBytes reads a size such as 1.5 GB.
func sizeInBytes(_ *database, call *interpret.Call) (datum.Value, error) {
	text := strings.TrimSpace(call.Text(0))
	digits := len(text) - len(strings.TrimLeft(text, "+-.0123456789"))
	n, ok := datum.ParseNumeric(text[:digits])
	if !ok {
		return nil, interpret.Fail("22023", "invalid size: %q", clip(text))
	}
	unit := strings.ToLower(strings.TrimSpace(text[digits:]))
	i := slices.Index([]string{"bytes", "kb", "mb", "gb", "tb", "pb"}, unit)
	if i < 0 && unit != "" && unit != "b" {
		return nil, interpret.Fail("22023", "invalid size: %q", clip(text))
	}
	for range max(i, 0) {
		n = n.Times(datum.NewNumeric(1024))
	}
	size, fits := n.Int64()
	if !fits {
		return nil, interpret.Fail("22003", "bigint out of range")
	}
	return datum.Int(size), nil
}
