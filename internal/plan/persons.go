package plan

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/policy"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Persons is a subquery that is grouped by the unit: one row for each person who has a row in From. Its first field
// is the unit, then comes one for each of Parts.
type Persons struct {
	From  Relation
	Where Expr
	Parts []Part

	fields []Field
}

// Part is an aggregate of one person's rows. Its value is cut to its field's interval.
type Part struct {
	Kind PartKind
	Arg  Expr // over From's fields; nil for PartRows
}

// PartKind says what a Part computes.
type PartKind int

const (
	// PartRows counts the person's rows, up to the limit of rows.
	PartRows PartKind = iota
	// PartValues counts those where Arg is not NULL.
	PartValues
	// PartSum adds up Arg; NULL where there is no value.
	PartSum
	// PartMin is the smallest value of Arg.
	PartMin
	// PartMax is the largest.
	PartMax
)

func (p *Persons) Fields() []Field { return p.fields }
func (p *Persons) Unit() int       { return 0 }
func (p *Persons) Single() bool    { return true }
func (p *Persons) rows() int64     { return 1 }
func (p *Persons) groups() int64   { return 1 }

func (p *Persons) tables(add func(*policy.Table)) { p.From.tables(add) }

// Limit is how many rows of one person count.
func (p *Persons) Limit() int64 { return p.From.rows() }

func (p *Persons) format(b *strings.Builder) {
	fmt.Fprintf(b, "(persons %d", p.Limit())
	for _, part := range p.Parts {
		fmt.Fprintf(b, " %d", part.Kind)
		if part.Arg != nil {
			b.WriteByte(':')
			format(b, part.Arg, noOutside)
		}
	}
	b.WriteString(" from ")
	p.From.format(b)
	if p.Where != nil {
		b.WriteString(" where ")
		format(b, p.Where, noOutside)
	}
	b.WriteByte(')')
}

// persons reads a subquery that is grouped by the unit: one row for each person.
func (q *question) persons(s *pg.SelectStmt, pos int32) (Relation, error) {
	const instead = "group by the column that says who a row is about, or ask the inner question on its own"
	if !private(q.rows) || len(s.GroupClause) != 1 {
		return nil, refuse(pos, instead, "a subquery with aggregates among private rows must be grouped by the person alone")
	}
	key := s.GroupClause[0]
	if i, ok := ordinal(key, len(s.TargetList)); ok {
		key = s.TargetList[i].GetResTarget().GetVal()
	}
	var unitColumn *Column
	isUnit := func(n *pg.Node) bool {
		e, err := checkExpr(below{q}, n)
		c, ok := e.(*Column)
		if err != nil || !ok || !q.isUnit(c) {
			return false
		}
		if unitColumn == nil {
			unitColumn = c
		}
		return c.stored().Index == unitColumn.stored().Index
	}
	if !isUnit(key) {
		return nil, refuse(location(key), instead, "a subquery with aggregates among private rows must be grouped by the person alone")
	}
	q.filter = q.present(unitColumn, q.filter)
	if q.filter != nil {
		q.filter = normal(q.filter)
	}
	var parts []Part
	var types []Type
	names := []string{}
	columns := []Expr{}
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		at := 0
		if !isUnit(t.GetVal()) {
			part, typ, err := q.part(t.GetVal().GetFuncCall(), location(t.GetVal()))
			if err != nil {
				return nil, err
			}
			parts, types = append(parts, part), append(types, typ)
			at = len(parts)
		}
		names, columns = append(names, name), append(columns, &Column{Index: at})
	}
	p := newPersons(q, parts, types)
	for _, c := range columns {
		c := c.(*Column)
		c.Field = p.fields[c.Index]
	}
	if name := repeated(names); name != "" {
		return nil, refuse(first(s.TargetList), "give every column a name of its own with AS", "two columns of the subquery are called %q", name)
	}
	return newSelect(p, nil, names, columns), nil
}

// newPersons groups the rows of a question by the person.
func newPersons(q *question, parts []Part, types []Type) *Persons {
	p := &Persons{From: q.rows.Relation, Where: q.filter, Parts: parts}
	unit := q.rows.Fields()[q.rows.Unit()]
	unit.Name, unit.Key, unit.Once, unit.Nullable = "", true, true, false
	p.fields = []Field{unit}
	for i, part := range parts {
		p.fields = append(p.fields, Field{Type: types[i], Once: true, Nullable: part.Kind >= PartSum})
	}
	return p
}

// isUnit reports whether a column says who a row is about.
func (q *question) isUnit(c *Column) bool {
	unit := q.rows.Unit()
	return unit >= 0 && c.Field.Identity != "" && c.Field.Identity == q.rows.Fields()[unit].Identity
}

// part reads an aggregate of one person's rows. It has bounds, so that it can be summed outside.
func (q *question) part(f *pg.FuncCall, pos int32) (Part, Type, error) {
	none := func(err error) (Part, Type, error) { return Part{}, Type{}, err }
	if f == nil {
		return none(refuse(pos, "select the person's column, COUNT, SUM, MIN or MAX", "only aggregates of one person's rows can be selected here"))
	}
	name := functionName(f)
	if err := refuseModifiers(f, false, false); err != nil {
		return none(err)
	}
	rows := big.NewInt(q.rows.rows())
	count := numberType(one, new(big.Int), rows, true)
	if f.AggStar && name == "count" {
		return Part{Kind: PartRows}, count, nil
	}
	if f.AggStar || len(f.Args) != 1 {
		return none(refuse(f.Location, "give it one column or expression", "%s takes one argument", name))
	}
	arg, err := q.argument(f)
	if err != nil {
		return none(err)
	}
	t := arg.Type()
	switch name {
	case "count":
		if l, ok := arg.(*Literal); ok && !l.IsNullLiteral() {
			return Part{Kind: PartRows}, count, nil
		}
		return Part{PartValues, arg}, count, nil
	case "sum":
		if err := summable(arg, name, f.Location); err != nil {
			return none(err)
		}
		lo, hi := smaller(new(big.Int), new(big.Int).Mul(rows, t.Lo)), larger(new(big.Int), new(big.Int).Mul(rows, t.Hi))
		typ := numberType(t.Step, lo, hi, true)
		if typ.tooWide() {
			return none(refuse(f.Location, "ask the owner for narrower bounds or a smaller max_rows", "the sum of one person's values can be too large"))
		}
		return Part{PartSum, arg}, typ, nil
	case "min", "max":
		if t.Kind != Number && t.Kind != Date && t.Kind != Timestamp {
			return none(refuse(f.Location, "use a number or a date", "%s needs numbers or dates, and this is %s", name, article(t.Kind)))
		}
		if name == "min" {
			return Part{PartMin, arg}, t, nil
		}
		return Part{PartMax, arg}, t, nil
	}
	return none(refuse(f.Location, "use COUNT, SUM, MIN or MAX", "%s cannot be used for one person's rows", name))
}
