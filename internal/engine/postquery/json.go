package postquery

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgtext"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// valuePrinter prints what makes JSON and arrays.
type valuePrinter struct {
	*output
	exprs *exprPrinter
}

// valueFunctions make JSON and arrays, or read them.
var valueFunctions = map[string]function{
	"to_json": {min: 1, max: 1}, "to_jsonb": {min: 1, max: 1}, "row_to_json": {min: 1, max: 1}, "array_to_json": {min: 1, max: 1},
	"json_build_object": {max: maxMembers}, "jsonb_build_object": {max: maxMembers},
	"json_build_array": {max: maxMembers}, "jsonb_build_array": {max: maxMembers},
	"json_typeof": {min: 1, max: 1}, "jsonb_typeof": {min: 1, max: 1},
	"json_array_length": {min: 1, max: 1}, "jsonb_array_length": {min: 1, max: 1},
	"json_agg": {role: aggregate, min: 1, max: 1}, "jsonb_agg": {role: aggregate, min: 1, max: 1},
	"json_object_agg": {role: aggregate, min: 2, max: 2}, "jsonb_object_agg": {role: aggregate, min: 2, max: 2},
	"array_agg": {role: aggregate, min: 1, max: 1}, "array_length": {min: 2, max: 2}, "cardinality": {min: 1, max: 1},
	"array_to_string": {min: 2, max: 3}, "unnest": {min: 1, max: 1},
}

// handsOn are functions that return one of the values that they get, or count them.
var handsOn = map[string]bool{
	"count": true, "any_value": true, "first_value": true, "last_value": true, "lag": true, "lead": true, "nth_value": true,
}

// handOn prints a call of one of those.
func (p *functionPrinter) handOn(known function, name string, f *pg.FuncCall) class {
	arg := p.exprs.part(f.Args[0])
	p.checkCall(known, name, f)
	switch {
	case arg.is == longText:
		arg.text, arg.is = p.capture(func() { p.exprs.scalar(arg.text, longText) }), ordinary
	case arg.is != ordinary && (f.AggDistinct || len(f.Args) > 2):
		p.exprs.scalar(arg.text, arg.is)
	case arg.is == rowOf && name == "count":
		arg.text = "1" // a row is there
	}
	p.callOf(name, f, func() {
		p.write(arg.text)
		for _, n := range f.Args[1:] {
			p.write(", ")
			p.exprs.expr(n)
		}
	})
	if name == "count" {
		return ordinary
	}
	return arg.is
}

// make prints a call of a function that makes or reads JSON or arrays.
func (p *functionPrinter) make(known function, name string, f *pg.FuncCall) class {
	if known.role == aggregate && f.Over != nil {
		p.refuse(syntax.Unsupported, f.Location, "use it with GROUP BY", "%s cannot be a window function", name)
	}
	if name == "json_agg" || name == "jsonb_agg" {
		known.max = 1
	}
	p.checkCall(known, name, f)
	if p.refused != nil {
		return ordinary
	}
	kind, is := "json", jsonOf
	if strings.HasPrefix(name, "jsonb_") || name == "to_jsonb" {
		kind, is = "jsonb", jsonbOf
	}
	ours := makerPrefix + kind
	switch strings.TrimPrefix(name, kind+"_") {
	case "to_json", "to_jsonb", "row_to_json", "array_to_json":
		return p.exprs.values.toJSON(name, f, is)
	case "build_object":
		if len(f.Args)%2 != 0 {
			p.refuse(syntax.BadValue, f.Location, "write "+name+"('key', value, ...)", "%s has a key without a value", name)
		}
		p.typedArguments(ours+"_object(", f.Args)
	case "build_array":
		p.typedArguments(ours+"_array(", f.Args)
	case "agg":
		p.listOf(ours, f)
	case "object_agg":
		p.refuseDistinct(f, name)
		p.write(ours, "_members(")
		p.gatherList(f, p.capture(func() { p.typedArguments(makerPrefix+"member(", f.Args) }))
		p.write(")")
	case "array_agg":
		return p.arrayAgg(f)
	case "typeof", "array_length":
		if name == "array_length" {
			return p.exprs.values.arrayLength(f)
		}
		short := map[bool]string{true: "typeof", false: "length"}[strings.HasSuffix(name, "typeof")]
		arg := p.exprs.part(f.Args[0])
		if arg.is == ordinary && f.Args[0].GetAConst().GetSval() != nil {
			arg.text, arg.is = p.capture(func() { p.exprs.become(arg, is, name) }), is
		}
		if arg.is != is {
			p.refuse(syntax.NoFunction, f.Location, "give it one", "%s takes %s", name, kind)
		}
		p.write(makerPrefix, short, "(", arg.text, ")")
		return ordinary
	default:
		return p.exprs.values.readArray(name, f)
	}
	return is
}

func (p *functionPrinter) refuseDistinct(f *pg.FuncCall, name string) {
	if f.AggDistinct {
		p.refuse(syntax.Unsupported, f.Location, "use DISTINCT in a subquery below it", "%s cannot be DISTINCT here", name)
	}
}

// toJSON prints a value as JSON.
func (p *valuePrinter) toJSON(name string, f *pg.FuncCall, is class) class {
	arg := p.exprs.part(f.Args[0])
	switch {
	case name == "row_to_json" && arg.is != rowOf:
		p.refuse(syntax.NoFunction, f.Location, "write row_to_json(t), where t is a table or subquery of FROM", "row_to_json takes a row")
	case name == "array_to_json" && arg.is != arrayOf:
		p.refuse(syntax.NoFunction, f.Location, "use to_json", "array_to_json takes an array")
	case isUntyped(f.Args[0]):
		p.refuse(syntax.Unsupported, f.Location, "cast it, as in 'x'::text", "the type of a constant is not known here")
	case arg.is == is || arg.is == rowOf && is == jsonOf:
		p.write(arg.text)
	case arg.is.isJSON():
		p.write(makerPrefix, "convert_", classNames[is], "(", arg.text, ")")
	default:
		p.write(makerPrefix, classNames[is], "_value(")
		p.typed(arg)
		p.write(")")
	}
	return is
}

// isUntyped reports whether something is a constant whose type PostgreSQL does not know.
func isUntyped(n *pg.Node) bool { return n.GetAConst().GetSval() != nil || isNull(n) }

// typed writes a value and its type.
func (p *valuePrinter) typed(a part) {
	p.write(a.text, ", ", typeOf(a.text, a.is))
	p.repeat(a.cost, 1)
}

func (p *functionPrinter) typedArguments(call string, args []*pg.Node) {
	p.write(call)
	printList(p.output, args, func(n *pg.Node) { p.exprs.values.typed(p.exprs.part(n)) })
	p.write(")")
}

// gatherList prints DuckDB's list of what was printed, in the order and with the filter of a call,
// and no more of it than can be used.
func (p *functionPrinter) gatherList(f *pg.FuncCall, text string) {
	p.write("list_slice(")
	p.callOf("list", f, func() {
		p.write(text)
		if f.AggDistinct && len(f.AggOrder) == 0 { // as PostgreSQL sorts them
			p.write(" ORDER BY ", text, " ASC NULLS LAST")
		}
	})
	p.write(", 1, ", tooMany, ")")
}

// listOf prints json_agg. PostgreSQL puts rows and arrays on lines of their own.
func (p *functionPrinter) listOf(ours string, f *pg.FuncCall) {
	arg := p.exprs.part(f.Args[0])
	between := "', '"
	if arg.is == rowOf || arg.is == arrayOf {
		between = "', ' || chr(10) || ' '"
	}
	if arg.is != ordinary {
		p.refuseDistinct(f, "JSON of rows, arrays and JSON")
	}
	list, cost := p.captureCosting(func() { p.gatherList(f, arg.text) })
	p.write(ours, "_list(")
	p.exprs.values.typed(part{text: list, cost: arg.cost + cost})
	p.write(", ", between, ")")
}

// castToJSON prints a cast to json or jsonb.
func (p *valuePrinter) castToJSON(n *pg.Node, kind string) class {
	is := map[string]class{"json": jsonOf, "jsonb": jsonbOf}[kind]
	arg := p.exprs.part(n)
	switch {
	case arg.is == is:
		p.write(arg.text)
	case arg.is == jsonOf || arg.is == jsonbOf || arg.is == longText:
		p.write(makerPrefix, "convert_", kind, "(", arg.text, ")")
	case arg.is == ordinary:
		p.parseJSON(arg, kind)
	default:
		p.refuse(syntax.CannotCast, -1, "use to_"+kind, "%s cannot be cast to %s", classNames[arg.is], kind)
	}
	return is
}

// parseJSON prints a text as JSON. A constant is looked at before anything is paid.
func (p *valuePrinter) parseJSON(text part, kind string) {
	if c := text.node.GetAConst(); c.GetSval() != nil {
		if err := pgtext.CheckJSON(c.GetSval().Sval); err != nil {
			p.refuse(syntax.BadText, c.Location, "write JSON, as in '[]'", "%v", err)
		}
	}
	p.write(makerPrefix, kind, "_parse(", text.text, ")")
}

// long prints a value as a text of any length.
func (p *valuePrinter) long(a part) { p.write(makerPrefix, "long(", a.text, ")") }

// look prints -> and ->>.
func (p *valuePrinter) look(e *pg.A_Expr, op string) class {
	of := p.exprs.part(e.Lexpr)
	if of.is != jsonOf && of.is != jsonbOf {
		p.refuse(syntax.NoFunction, e.Location, "give it json, as in to_json(t) "+op+" 'key'", "%s takes a value out of json", op)
		return ordinary
	}
	call, is := "get", of.is
	if op == "->>" {
		call, is = "get_text", ordinary
	}
	p.write(makerPrefix, call, "(", of.text, ", ")
	p.exprs.expr(e.Rexpr)
	p.write(")")
	return is
}

// writtenRow prints ROW(...) as JSON.
func (p *valuePrinter) writtenRow(r *pg.RowExpr) class {
	p.write(makerPrefix, "json_row(")
	i := 0
	printList(p.output, r.Args, func(n *pg.Node) {
		i++
		p.write("'f", itoa(i), "', ")
		p.typed(p.exprs.part(n))
	})
	p.write(")")
	if len(r.Args) == 0 || len(r.Args) > maxMembers {
		p.refuse(syntax.Unsupported, r.Location, "write its values", "this row has no values, or more than %d", maxMembers)
	}
	return rowOf
}
