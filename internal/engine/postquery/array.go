package postquery

import (
	"strconv"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	pg "github.com/pganalyze/pg_query_go/v6"
)

func itoa(n int) string { return strconv.Itoa(n) }

// tooMany is one more than an array can have.
var tooMany = itoa(maxElements + 1)

// keepList prints DuckDB's list as an array of ours: its number, and NULL of its elements' type.
func (p *valuePrinter) keepList(list string, cost int) class {
	p.write("CASE WHEN ", list, " IS NOT NULL THEN ")
	p.keptList(list, "CASE WHEN FALSE THEN list_extract("+list+", 1) END", "typeof("+list+")")
	p.write(" END")
	p.repeat(cost, 3)
	return arrayOf
}

func (p *valuePrinter) keptList(list, of, typ string) {
	p.write("{'", arrayField, "': ", makerPrefix, "keep(", list, ", ", typ, "), '", memberField, "': ", of, "}")
}

func (p *valuePrinter) emptyArray(of string) { p.keptList("[]", of, "''") }

// arrayAgg prints array_agg.
func (p *functionPrinter) arrayAgg(f *pg.FuncCall) class {
	arg := p.exprs.part(f.Args[0])
	if arg.is != ordinary && arg.is != longText {
		p.refuse(syntax.NoFunction, f.Location, "use json_agg", "array_agg cannot make an array of %s", classNames[arg.is])
	}
	list, cost := p.captureCosting(func() { p.gatherList(f, p.capture(func() { p.exprs.scalar(arg.text, arg.is) })) })
	return p.exprs.values.keepList(list, cost+arg.cost)
}

// arraySubquery prints ARRAY(SELECT ...).
func (p *valuePrinter) arraySubquery(query *pg.SelectStmt, pos int32) class {
	var columns []outputColumn
	inner := p.capture(func() { columns = p.exprs.statements.selectStmt(query, false) })
	if len(columns) != 1 {
		p.refuse(syntax.Malformed, pos, "select one column", "ARRAY(SELECT ...) has one column")
		return arrayOf
	}
	p.exprs.scalars(columns, "ARRAY(SELECT ...)")
	list := `coalesce(list_slice(list("x"), 1, ` + tooMany + `), [])`
	p.write("(SELECT ")
	p.keepList(list, 1)
	p.write(" FROM (", inner, `) AS "`, tableMark, `x"("x"))`)
	return arrayOf
}

// castToArray prints ARRAY[...]::type[], and the empty array.
func (p *valuePrinter) castToArray(n *pg.Node, to string) class {
	if s := n.GetAConst().GetSval(); s != nil && s.Sval == "{}" {
		p.emptyArray("CAST(NULL AS " + to + ")")
		return arrayOf
	}
	list, cost := p.captureCosting(func() {
		p.write("CAST(")
		p.list(n, "write ARRAY[...]", "only an array can be cast to an array")
		p.write(" AS ", to, "[])")
	})
	return p.keepList(list, cost)
}

// list prints an array as DuckDB's list. It is used where it stands and goes nowhere: DuckDB copies
// lists without counting their memory.
func (p *valuePrinter) list(n *pg.Node, instead, refusal string) {
	if a := n.GetAArrayExpr(); a != nil {
		p.exprs.array(a)
		return
	}
	of := p.exprs.part(n)
	if of.is != arrayOf {
		p.refuse(syntax.Unsupported, -1, instead, "%s", refusal)
		return
	}
	p.write("cast_to_type(", makerPrefix, "texts(", number(of.text), "), [", `struct_extract(`, of.text, ", '", memberField, "')])")
	p.repeat(of.cost, 1)
}

// number prints what an array is called.
func number(array string) string { return "struct_extract(" + array + ", '" + arrayField + "')" }

// readArray prints the functions that read an array.
func (p *valuePrinter) readArray(name string, f *pg.FuncCall) class {
	if name == "unnest" {
		p.write("unnest(")
		p.list(f.Args[0], "write unnest(ARRAY[...])", "unnest takes an array")
		p.write(")")
		return ordinary
	}
	of := p.exprs.part(f.Args[0])
	if of.is != arrayOf {
		p.refuse(syntax.NoFunction, f.Location, "give it one", "%s takes an array", name)
		return ordinary
	}
	if name == "cardinality" {
		p.write(makerPrefix, "count(", number(of.text), ")")
		return ordinary
	}
	p.write(makerPrefix, "join(", number(of.text))
	for _, n := range f.Args[1:] {
		p.write(", ")
		p.exprs.expr(n)
	}
	if len(f.Args) == 2 {
		p.write(", NULL")
	}
	p.write(")")
	return ordinary
}

// arrayLength prints array_length, which is NULL of an empty array. Arrays have one dimension.
func (p *valuePrinter) arrayLength(f *pg.FuncCall) class {
	of := p.exprs.part(f.Args[0])
	if c := f.Args[1].GetAConst(); of.is != arrayOf || c.GetIval().GetIval() != 1 {
		p.refuse(syntax.NoFunction, f.Location, "write array_length(x, 1)", "array_length takes an array of one dimension")
	}
	p.write("CAST(nullif(", makerPrefix, "count(", number(of.text), "), 0) AS INTEGER)")
	p.repeat(of.cost, 1)
	return ordinary
}

// element prints x[n].
func (p *valuePrinter) element(a *pg.A_Indirection) class {
	if len(a.Indirection) != 1 || a.Indirection[0].GetAIndices() == nil || a.Indirection[0].GetAIndices().IsSlice {
		p.refuse(syntax.Unsupported, -1, "use columns, and x[n] of arrays", "there are no fields to look into")
		return ordinary
	}
	p.write("list_extract(")
	p.list(a.Arg, "use columns, or -> of JSON", "only arrays have elements")
	at, cost := p.captureCosting(func() { p.exprs.expr(a.Indirection[0].GetAIndices().Uidx) })
	p.write(", CASE WHEN ", at, " > 0 THEN ", at, " END)")
	p.repeat(cost, 1)
	return ordinary
}
