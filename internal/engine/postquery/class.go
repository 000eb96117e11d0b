package postquery

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// class says what an expression is where DuckDB has only a number of it; see handle.go. It follows
// from the text: what makes such a value is known, and so is all that hands one on.
type class int

const (
	ordinary class = iota // a value that DuckDB has itself
	jsonOf                // json
	jsonbOf               // jsonb
	arrayOf               // an array
	rowOf                 // a row of a table, which is JSON here
	longText              // a text that may be longer than MaxText
)

var classNames = map[class]string{jsonOf: "json", jsonbOf: "jsonb", arrayOf: "an array", rowOf: "a row", longText: "a text"}

// isJSON reports whether DuckDB has a value as JSON: rows are JSON of their columns.
func (c class) isJSON() bool { return c == jsonOf || c == jsonbOf || c == rowOf }

// outputColumn is a column of a table, of a WITH query or of a SELECT.
type outputColumn struct {
	name string
	is   class
}

// expr prints an expression whose value DuckDB has itself.
func (p *exprPrinter) expr(n *pg.Node) {
	is := ordinary
	text := p.capture(func() { is = p.value(n) })
	p.scalar(text, is)
}

// scalar writes what was printed where only a value that DuckDB has can stand.
func (p *exprPrinter) scalar(text string, is class) {
	switch is {
	case ordinary:
		p.write(text)
	case longText:
		p.write(makerPrefix, "short(", text, ")")
	case rowOf:
		p.refuse(syntax.Unsupported, -1,
			"compare it, as in (a, b) = (c, d) or (a, b) IN (...), write its values one by one, or use row_to_json",
			"a row cannot be used as a value")
	case arrayOf:
		p.refuse(syntax.Unsupported, -1, "use unnest, = ANY(...), array_to_string, array_length or [n]", "an array cannot be used here")
	default:
		p.refuse(syntax.NoFunction, -1, "take a value out of it with ->>, or cast it to text",
			"%s cannot be compared, sorted or computed with",
			classNames[is])
	}
}

// part is something that was printed, and not written yet.
type part struct {
	text string
	cost int
	is   class
	node *pg.Node
}

func (p *exprPrinter) part(n *pg.Node) part {
	out := part{node: n}
	out.text, out.cost = p.captureCosting(func() { out.is = p.value(n) })
	return out
}

func (p *exprPrinter) parts(all []*pg.Node) []part {
	out := make([]part, len(all))
	for i, n := range all {
		if p.refused == nil {
			out[i] = p.part(n)
		}
	}
	return out
}

// unify gives the branches of a CASE and the like one class. Constants become what the others are.
func (p *exprPrinter) unify(all []part, what string) class {
	is := ordinary
	for _, a := range all {
		if a.is != ordinary && (is == ordinary || is == longText) {
			is = a.is
		}
	}
	if is == ordinary {
		return is
	}
	if is == longText && slices.ContainsFunc(all, func(a part) bool { return a.is != longText && !isNull(a.node) }) {
		is = ordinary
	}
	for i := range all {
		a := &all[i]
		if a.is == is || isNull(a.node) {
			continue
		}
		a.text = p.capture(func() { p.become(*a, is, what) })
	}
	return is
}

func isNull(n *pg.Node) bool { return n.GetAConst().GetIsnull() }

// become writes something as what it stands beside.
func (p *exprPrinter) become(a part, is class, what string) {
	constant := a.node.GetAConst().GetSval()
	switch {
	case is == ordinary:
		p.scalar(a.text, a.is)
	case constant != nil && (is == jsonOf || is == jsonbOf):
		p.values.parseJSON(a, classNames[is])
	case constant != nil && is == arrayOf && constant.Sval == "{}":
		p.values.emptyArray("NULL")
	default:
		p.refuse(syntax.Mismatch, -1, "cast them to the same type", "%s has values of different types, one of them %s", what,
			classNames[is])
	}
}

// test prints an expression of which it is only looked at whether it is NULL.
func (p *exprPrinter) test(n *pg.Node) {
	a := p.part(n)
	if a.is == rowOf {
		p.scalar(a.text, a.is)
	}
	p.write(a.text)
}

// resolve finds a column that is in sight, or the row of a table.
func (p *scope) resolve(c *pg.ColumnRef) (outputColumn, *element) {
	name := fold(stringOf(c.Fields[len(c.Fields)-1]))
	star := c.Fields[len(c.Fields)-1].GetAStar() != nil
	for i := len(p.elements) - 1; i >= 0; i-- { // the innermost one counts
		e := &p.elements[i]
		if len(c.Fields) == 2 && e.name != fold(stringOf(c.Fields[0])) {
			continue
		}
		if star && len(c.Fields) == 2 {
			return outputColumn{}, e
		}
		for _, column := range e.columns {
			if fold(column.name) == name {
				return column, nil
			}
		}
	}
	if len(c.Fields) == 1 {
		for i := len(p.elements) - 1; i >= 0; i-- {
			if e := &p.elements[i]; e.name == name {
				return outputColumn{}, e
			}
		}
	}
	return outputColumn{}, nil
}

// row prints the row of a table as JSON.
func (p *valuePrinter) tableRow(e *element, pos int32) class {
	if e.nullable {
		p.refuse(syntax.Unsupported, pos, "make JSON of it in a subquery, or name its columns with json_build_object",
			"a row of an outer join, which may have no partner, cannot be used as a value")
		return rowOf
	}
	p.write(makerPrefix, "json_row(")
	first := true
	for _, c := range e.columns {
		if c.hidden() {
			continue
		}
		if !first {
			p.write(", ")
		}
		first = false
		column := p.tableName(e.alias, pos) + "." + p.quotedName(c.name, pos)
		p.write(p.jsonName(c.name), ", ", column, ", ", typeOf(column, c.is))
	}
	if first {
		p.refuse(syntax.Unsupported, pos, "name columns", "this row has no columns")
	}
	p.cost += 2 * p.weight * len(e.columns)
	p.write(")")
	return rowOf
}

// jsonName writes a name as a constant.
func (p *output) jsonName(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Hidden begins the names of columns that only we ask for, and that are in no row.
const Hidden = "\x02"

func (c outputColumn) hidden() bool { return strings.HasPrefix(c.name, Hidden) }

// typeOf asks DuckDB for the type of something, where it is not ours.
func typeOf(text string, is class) string {
	if is != ordinary {
		return "''"
	}
	return "typeof(" + text + ")"
}
