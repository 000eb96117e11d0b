package dialect

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// persons prints a subquery with one row for each person, or for each person and key. Counts are
// cut to the limit of rows, sums are added up in 128 bits, and all are clamped to what their type
// says.
func (p *Printer) persons(r *tree.Persons, f *frame) string {
	from := p.frame(r.From)
	unit := from.field(r.From.Unit())
	where := p.somebody(from, r.Where, unit)
	// Arguments are computed for each row before rows are added up.
	inner, group := []string{unit + " AS u"}, []string{"u"}
	outer := []string{"u AS f0"}
	for i, e := range r.Keys { // all of them: they say which rows are one group
		inner = append(inner, fmt.Sprintf("%s AS k%d", p.exprOf(tuple{from}, e), i))
		group = append(group, fmt.Sprintf("k%d", i))
		outer = append(outer, fmt.Sprintf("k%d AS f%d", i, i+1))
	}
	first := r.First()
	for i, part := range r.Parts {
		if !f.used[first+i] {
			continue
		}
		if part.Arg != nil {
			inner = append(inner, fmt.Sprintf("%s AS a%d", p.exprOf(tuple{from}, part.Arg), i))
		}
		outer = append(outer, fmt.Sprintf("%s AS f%d", p.aggregate(part, fmt.Sprintf("a%d", i), ""), first+i))
	}
	fields := r.Fields()
	list := f.fields(func(i int) string {
		name := fmt.Sprintf("f%d", i)
		if i < first {
			return name
		}
		return p.clamped(name, fields[i].Type)
	})
	return "SELECT " + list + " FROM (SELECT " + strings.Join(outer, ", ") + " FROM (SELECT " + strings.Join(inner, ", ") + " FROM " +
		p.source(from) + where + ") GROUP BY " + strings.Join(group, ", ") + ")"
}

// somebody prints the condition on rows of which each is somebody's.
func (p *Printer) somebody(from *frame, where tree.Expr, unit string) string {
	if where == nil {
		return " WHERE " + unit + " IS NOT NULL"
	}
	return " WHERE " + p.exprOf(tuple{from}, where) + " AND " + unit + " IS NOT NULL"
}

// clamped prints a value that was computed from several rows, inside of what its type says.
func (p *Printer) clamped(x string, t tree.Type) string {
	switch t.Kind {
	case tree.Number, tree.Date, tree.Timestamp:
	default:
		return x
	}
	text := p.clampTo(x, t)
	if !t.Wide() {
		text = p.TryCast(text, p.Int64)
	}
	return text
}

// aggregate prints an aggregate of one person's rows, or of a frame of them. What is summed is
// proven to fit in 53 bits. Truths are compared as numbers, which every database can.
func (p *Printer) aggregate(part tree.Part, x, over string) string {
	truth := "CASE WHEN " + x + " THEN 1 WHEN NOT " + x + " THEN 0 END"
	switch part.Kind {
	case tree.PartRows:
		return "count(*)" + over
	case tree.PartValues:
		return "count(" + x + ")" + over
	case tree.PartDistinct:
		return "count(DISTINCT " + x + ")" + over
	case tree.PartSum:
		return p.sum(p.TryCast(x, p.Int64), part.Arg.Type().Lo, part.Arg.Type().Hi, false, false) + over
	case tree.PartMin:
		return "min(" + x + ")" + over
	case tree.PartMax:
		return "max(" + x + ")" + over
	case tree.PartAny:
		return "(max(" + truth + ")" + over + " = 1)"
	case tree.PartAll:
		return "(min(" + truth + ")" + over + " = 1)"
	}
	panic(fmt.Sprintf("dialect: no SQL for an aggregate of kind %d", part.Kind))
}
