package outer

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// types are what can be cast to, by PostgreSQL's name.
var types = map[string]string{
	"bool": "BOOLEAN", "boolean": "BOOLEAN", "int2": "SMALLINT", "smallint": "SMALLINT", "int4": "INTEGER", "int": "INTEGER",
	"integer": "INTEGER", "int8": "BIGINT", "bigint": "BIGINT", "float4": "FLOAT", "real": "FLOAT", "float8": "DOUBLE",
	"numeric": "DOUBLE", "decimal": "DOUBLE", "text": "VARCHAR", "varchar": "VARCHAR", "date": "DATE", "timestamp": "TIMESTAMP",
	"interval": "INTERVAL",
}

// CastTo is PostgreSQL's name of the type that a column of a statement is cast to, or nothing. What
// is rounded to digits is numeric there, and a floating-point number here.
func CastTo(s *pg.SelectStmt, column int) string {
	for s.GetLarg() != nil {
		s = s.Larg
	}
	if column >= len(s.GetTargetList()) {
		return ""
	}
	val := s.TargetList[column].GetResTarget().GetVal()
	if f := val.GetFuncCall(); f != nil && len(f.Funcname) == 1 && len(f.Args) == 2 &&
		(text(f.Funcname[0]) == "round" || text(f.Funcname[0]) == "trunc") {
		return "numeric"
	}
	names := val.GetTypeCast().GetTypeName().GetNames()
	if len(names) == 0 {
		return ""
	}
	return ownNames[text(names[len(names)-1])]
}

// ownNames are what PostgreSQL calls types that have several names.
var ownNames = map[string]string{
	"bool": "bool", "boolean": "bool", "int2": "int2", "smallint": "int2", "int4": "int4", "int": "int4", "integer": "int4",
	"int8": "int8", "bigint": "int8", "float4": "float4", "real": "float4", "float8": "float8", "numeric": "numeric",
	"decimal": "numeric", "text": "text", "varchar": "varchar", "date": "date", "timestamp": "timestamp",
}

func (p *printer) cast(c *pg.TypeCast) {
	t := c.TypeName
	names := t.GetNames()
	if len(names) == 2 && text(names[0]) == "pg_catalog" {
		names = names[1:]
	}
	name, to, ok := "", "", false
	if len(names) == 1 {
		name = text(names[0])
		to, ok = types[name]
	}
	if !ok || t.Setof || t.PctType || len(t.ArrayBounds) > 0 {
		p.refuse(t.GetLocation(), "use boolean, integer, bigint, numeric(p, s), double precision, text, date, timestamp or interval",
			"nothing can be cast to this type")
		return
	}
	if len(t.Typmods) > 0 {
		to = p.digits(name, t)
	}
	p.say("CAST(")
	p.expr(c.Arg)
	p.say(" AS ", to, ")")
}

// digits prints numeric(p, s). Other types have no size: DuckDB would ignore it, and PostgreSQL
// cuts.
func (p *printer) digits(name string, t *pg.TypeName) string {
	if name != "numeric" && name != "decimal" || len(t.Typmods) > 2 {
		p.refuse(t.Location, "leave the size out, and use left() or date_trunc()", "the type %s cannot have a size here", name)
		return ""
	}
	size := []int32{0, 0}
	for i, m := range t.Typmods {
		c := m.GetAConst()
		if c == nil || c.Isnull || c.GetSval() != nil || c.GetFval() != nil {
			p.refuse(t.Location, "write numeric(10, 2)", "the size of a type is not a whole number")
			return ""
		}
		size[i] = c.GetIval().GetIval()
	}
	if size[0] < 1 || size[0] > 38 || size[1] < 0 || size[1] > size[0] {
		p.refuse(t.Location, "write at most 38 digits, as in numeric(38, 2)", "numeric(%d, %d) is not available", size[0], size[1])
		return ""
	}
	return "DECIMAL(" + strconv.Itoa(int(size[0])) + ", " + strconv.Itoa(int(size[1])) + ")"
}
