package catalog

import (
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// definitionFunctions are the functions that name, describe and define what is in the catalogue.
var definitionFunctions = []function{
	{"lax format_type(oid,int4) text", (*Catalog).formatType},
	{"pg_get_viewdef(oid,bool|int4=) text", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		return c.viewdef(call, datum.OID(call.Args[0]))
	}},
	{"pg_get_viewdef(text,bool=) text", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		o, err := c.ParseName(call.Text(0), oid.Regclass)
		if err != nil {
			return nil, err
		}
		return c.viewdef(call, o)
	}},
	{"pg_get_constraintdef(oid,bool=) text", (*Catalog).constraintdef},
	{"pg_get_indexdef(oid) text", (*Catalog).indexdef},
	{"pg_get_indexdef(oid,int4,bool) text", (*Catalog).indexdef},
	{"pg_get_function_arguments(oid) text", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		types, ok := c.procColumn(call, "proargtypes").(datum.List)
		if !ok {
			return nil, nil
		}
		return datum.Text(c.nameTypes(types)), nil
	}},
	{"pg_get_function_result(oid) text", (*Catalog).functionResult},
	{"oidvectortypes(oidvector) text", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		return call.NewText(c.nameTypes(call.List(0)))
	}},
	{"pg_get_userbyid(oid) name", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		o := datum.OID(call.Args[0])
		if name, ok := c.roleName(o); ok {
			return datum.Text(name), nil
		}
		return datum.Text("unknown (OID=" + oid.Format(o) + ")"), nil
	}},
	{"to_regclass(text) regclass", nameFinder(oid.Regclass)},
	{"to_regtype(text) regtype", nameFinder(oid.Regtype)},
	{"to_regproc(text) regproc", nameFinder(oid.Regproc)},
	{"to_regnamespace(text) regnamespace", nameFinder(oid.Regnamespace)},
	{"to_regrole(text) regrole", nameFinder(oid.Regrole)},
	{"obj_description(oid,name=) text", (*Catalog).objectDescription},
	{"col_description(oid,int4) text", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		if call.Int(1) == 0 {
			return nil, nil
		}
		return c.description(call.Args[0], 1259, call.Args[1]), nil
	}},
	{"pg_table_is_visible(oid) bool", (*Catalog).tableIsVisible},
	{"pg_type_is_visible(oid) bool", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		if d := c.rowTypes.Find(datum.OID(call.Args[0])); d != nil {
			return datum.Bool(c.visible(oid.SchemaName(d.Schema))), nil
		}
		return nil, nil
	}},
	{"pg_function_is_visible(oid) bool", func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		if procNames[datum.OID(call.Args[0])] == "" {
			return nil, nil
		}
		return datum.True, nil
	}},
	{"pg_operator_is_visible|pg_opclass_is_visible|pg_opfamily_is_visible|pg_conversion_is_visible(oid) bool", always},
	{"pg_ts_parser_is_visible|pg_ts_dict_is_visible|pg_ts_template_is_visible|pg_ts_config_is_visible(oid) bool", always},
	{"pg_collation_is_visible|pg_statistics_obj_is_visible(oid) bool", always},
	{"pg_size_pretty(numeric) text", func(_ *Catalog, call *interpret.Call) (datum.Value, error) {
		f, _ := call.Args[0].(datum.Float)
		return call.NewText(strconv.FormatFloat(float64(f), 'f', -1, 64) + " bytes")
	}},
	{"pg_size_pretty(int8) text", func(_ *Catalog, call *interpret.Call) (datum.Value, error) {
		return call.NewText(oid.Format(uint32(max(0, min(call.Int(0), 1<<31)))) + " bytes")
	}},
}

// always is what is visible wherever one looks: pg_catalog is in every search path.
func always(*Catalog, *interpret.Call) (datum.Value, error) { return datum.True, nil }

func (c *Catalog) formatType(call *interpret.Call) (datum.Value, error) {
	if call.Args[0] == nil {
		return nil, nil
	}
	mod := int64(-2)
	if call.Args[1] != nil {
		mod = call.Int(1)
	}
	return datum.Text(c.rowTypes.Format(datum.OID(call.Args[0]), mod)), nil
}

func (c *Catalog) viewdef(call *interpret.Call, o uint32) (datum.Value, error) {
	rel := c.byOID[o]
	switch {
	case rel == nil || rel.kind != "v":
		return nil, nil
	case !rel.policy:
		return call.NewText("")
	}
	return call.NewText(rel.definition())
}

func (c *Catalog) constraintdef(call *interpret.Call) (datum.Value, error) {
	for _, k := range c.constraints {
		if k.oid == datum.OID(call.Args[0]) {
			return call.NewText(k.def())
		}
	}
	return nil, nil
}

// indexdef is an index, or with its number a column of it.
func (c *Catalog) indexdef(call *interpret.Call) (datum.Value, error) {
	k := c.indexByOID(datum.OID(call.Args[0]))
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

func (c *Catalog) functionResult(call *interpret.Call) (datum.Value, error) {
	result := c.procColumn(call, "prorettype")
	if result == nil {
		return nil, nil
	}
	text := c.rowTypes.Format(datum.OID(result), -2)
	if c.procColumn(call, "proretset") == datum.True {
		text = "SETOF " + text
	}
	return datum.Text(text), nil
}

// procColumn is a column of the function that the first argument is the OID of, or NULL.
func (c *Catalog) procColumn(call *interpret.Call, name string) datum.Value {
	rel := c.byName["pg_catalog.pg_proc"]
	for _, t := range rel.Find(rel.column("oid"), datum.Key(nil, call.Args[0])) {
		return t[rel.column(name)]
	}
	return nil
}

// nameTypes writes a list of types as SQL does.
func (c *Catalog) nameTypes(list datum.List) string {
	var parts []string
	for _, t := range list {
		parts = append(parts, c.rowTypes.Format(datum.OID(t), -2))
	}
	return strings.Join(parts, ", ")
}

// nameFinder makes a function that finds an object by its name, and is NULL where there is none.
func nameFinder(t uint32) func(*Catalog, *interpret.Call) (datum.Value, error) {
	return func(c *Catalog, call *interpret.Call) (datum.Value, error) {
		o, err := c.ParseName(call.Text(0), t)
		if err != nil {
			return nil, nil
		}
		return datum.Int(o), nil
	}
}

func (c *Catalog) objectDescription(call *interpret.Call) (datum.Value, error) {
	if len(call.Args) == 1 {
		return c.description(call.Args[0], 0, datum.Int(0)), nil
	}
	rel := c.byName["pg_catalog."+call.Text(1)]
	if rel == nil {
		return nil, nil
	}
	return c.description(call.Args[0], rel.oid, datum.Int(0)), nil
}

// description is the comment on an object, which the relation class lists, or on a column of it.
func (c *Catalog) description(object datum.Value, class uint32, column datum.Value) datum.Value {
	for _, t := range c.byName["pg_catalog.pg_description"].Find(0, datum.Key(nil, object)) {
		if (class == 0 || t[1] == datum.Int(class)) && t[2] == column {
			return t[3]
		}
	}
	return nil
}

func (c *Catalog) tableIsVisible(call *interpret.Call) (datum.Value, error) {
	o := datum.OID(call.Args[0])
	if rel := c.byOID[o]; rel != nil {
		return datum.Bool(c.find("", rel.name) == rel), nil
	}
	if c.indexByOID(o) != nil {
		return datum.Bool(c.visible("public")), nil
	}
	return nil, nil
}
