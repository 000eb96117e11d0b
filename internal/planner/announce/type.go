package announce

import "slices"

// Type is a type by PostgreSQL's name in pg_type. It is empty where it is not known.
type Type struct {
	Name string
	// Modifier is what atttypmod would be, as for the digits of numeric(10,2); 0 where there is
	// none.
	Modifier int32
}

// unknown is the type of a quoted constant and of NULL, until something beside it says more.
const unknown = "unknown"

// Numeric is numeric(precision, scale).
func Numeric(precision, scale int) Type {
	if precision < 1 || precision > 1000 || scale < 0 || scale > precision {
		return Type{Name: "numeric"}
	}
	return Type{"numeric", int32(precision<<16|scale) + 4}
}

// categories are those of pg_type.
var categories = map[string]string{
	"int2": "N", "int4": "N", "int8": "N", "numeric": "N", "float4": "N", "float8": "N", "text": "S", "varchar": "S", "bpchar": "S",
	"name": "S", "bool": "B", "date": "D", "timestamp": "D", "timestamptz": "D", "interval": "T",
}

// preferred are the types that a category prefers.
var preferred = []string{"float8", "text", "bool", "timestamptz", "interval"}

// implicit are the casts that PostgreSQL makes by itself, from a type to others.
var implicit = map[string][]string{
	"int2": {"int4", "int8", "numeric", "float4", "float8"}, "int4": {"int8", "numeric", "float4", "float8"},
	"int8": {"numeric", "float4", "float8"}, "numeric": {"float4", "float8"}, "float4": {"float8"},
	"date": {"timestamp", "timestamptz"}, "timestamp": {"timestamptz"},
	"text": {"varchar", "bpchar", "name"}, "varchar": {"text", "bpchar", "name"}, "bpchar": {"text", "varchar", "name"},
	"name": {"text"},
}

func coerces(from, to string) bool {
	return from == to || from == unknown || slices.Contains(implicit[from], to)
}

// common is the type that several values get which have to be of one: those of CASE, COALESCE,
// VALUES and UNION. It is select_common_type of parse_coerce.c.
func common(all []Type) Type {
	if len(all) == 0 {
		return Type{}
	}
	name := all[0].Name
	for _, t := range all {
		switch {
		case t.Name == "":
			return Type{}
		case t.Name == unknown || t.Name == name:
		case name == unknown:
			name = t.Name
		case categories[t.Name] != categories[name]:
			return Type{}
		case !slices.Contains(preferred, name) && coerces(name, t.Name) && !coerces(t.Name, name):
			name = t.Name
		}
	}
	out := Type{name, all[0].Modifier}
	for _, t := range all {
		if t.Name != name || t.Modifier != out.Modifier {
			out.Modifier = 0
		}
	}
	return out
}

// settled is a type as a column has it: a text where nothing says more.
func settled(t Type) Type {
	if t.Name == unknown {
		return Type{Name: "text"}
	}
	return t
}
