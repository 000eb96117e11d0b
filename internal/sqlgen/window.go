package sqlgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// window prints a subquery with windows. Each of them is partitioned by the unit before anything
// else, and where it matters which of two rows comes first all fields that can be told apart above
// decide, so that nothing depends on how a database has stored them. Where NULL stands is always
// said: databases do not agree on it.
func (p *relationPrinter) window(w *tree.Window, f *frame) string {
	from := p.frame(w.From)
	n := len(w.From.Fields())
	unit := from.field(w.Whose)
	where := p.whereSomebody(from, w.Where, unit)
	// What windows are computed from is computed for each row first.
	inner, middle := []string{unit + " AS u"}, []string{}
	var ties []string
	for _, i := range w.Ties {
		ties = append(ties, fmt.Sprintf("f%d NULLS LAST", i))
	}
	compute := func(name string, e tree.Expr) string {
		inner = append(inner, p.exprs.exprOver(tuple{from}, e)+" AS "+name)
		return name
	}
	number := ""
	if w.Numbered(func(call int) bool { return f.used[n+call] }) {
		number = ", row_number() OVER (PARTITION BY u" + orderBy(ties) + ") AS i"
		ties = append(ties, "i")
	}
	for i, o := range w.Calls {
		if f.used[n+i] {
			middle = append(middle, p.over(o, w.Fields()[n+i].Type, strconv.Itoa(i), ties, compute)+fmt.Sprintf(" AS f%d", n+i))
		}
	}
	for i := range n {
		if f.used[i] || slices.Contains(w.Ties, i) {
			inner, middle = append(inner, from.field(i)+fmt.Sprintf(" AS f%d", i)), append(middle, fmt.Sprintf("f%d", i))
		}
	}
	fields := w.Fields()
	list := f.fields(func(i int) string {
		if i < n {
			return fmt.Sprintf("f%d", i)
		}
		return p.clampComputed(fmt.Sprintf("f%d", i), fields[i].Type)
	})
	if len(middle) == 0 {
		middle = []string{"u"}
	}
	rows := "(SELECT " + strings.Join(inner, ", ") + " FROM " + p.from(from) + where + ")"
	if number != "" {
		rows = "(SELECT *" + number + " FROM " + rows + ")"
	}
	return "SELECT " + list + " FROM (SELECT " + strings.Join(middle, ", ") + " FROM " + rows + ")"
}

func orderBy(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(list, ", ")
}

// over prints one window over rows of which what it is computed from has been printed by compute.
func (p *relationPrinter) over(o tree.Over, t tree.Type, name string, ties []string, compute func(string, tree.Expr) string) string {
	text := " OVER (PARTITION BY u"
	for i, e := range o.By {
		text += ", " + compute(fmt.Sprintf("b%s_%d", name, i), e)
	}
	var order []string
	for i, by := range o.Order {
		x := compute(fmt.Sprintf("o%s_%d", name, i), by.By)
		if by.Descending {
			x += " DESC"
		}
		if by.NullsFirst {
			x += " NULLS FIRST"
		} else {
			x += " NULLS LAST"
		}
		order = append(order, x)
	}
	if o.Ordered() {
		order = append(order, ties...)
	}
	text += orderBy(order)
	if o.Framed() {
		text += frameOf(o.Frame)
	}
	text += ")"
	arg := ""
	if o.Arg != nil {
		arg = compute("a"+name, o.Arg)
	}
	switch o.Kind {
	case tree.PartFirst:
		return "first_value(" + arg + ")" + text
	case tree.PartLast:
		return "last_value(" + arg + ")" + text
	case tree.PartNth:
		return fmt.Sprintf("nth_value(%s, %d)%s", arg, o.N, text)
	case tree.PartLag, tree.PartLead:
		what := map[tree.PartKind]string{tree.PartLag: "lag", tree.PartLead: "lead"}[o.Kind]
		if o.Otherwise != nil {
			// A database would cast the one to the type of the other, and might fail.
			other := p.castToHolder(compute("d"+name, o.Otherwise), t)
			return fmt.Sprintf("%s(%s, %d, %s)%s", what, p.castToHolder(arg, t), o.N, other, text)
		}
		return fmt.Sprintf("%s(%s, %d)%s", what, arg, o.N, text)
	case tree.PartNumber:
		return "row_number()" + text
	case tree.PartRank:
		return "rank()" + text
	case tree.PartDense:
		return "dense_rank()" + text
	case tree.PartTile:
		return fmt.Sprintf("ntile(%d)%s", o.N, text)
	}
	return p.aggregate(o.Part, arg, text)
}

// castToHolder prints a value in the type that holds all of a type's values.
func (p *relationPrinter) castToHolder(x string, t tree.Type) string {
	if t.Kind == tree.Number && t.Wide() {
		return p.TryCast(x, p.Int128)
	}
	return p.TryCast(x, p.holder(t))
}

func frameOf(f tree.Frame) string {
	mode := " ROWS"
	if f.Peers {
		mode = " RANGE"
	}
	end := func(e tree.Edge, open string) string {
		switch {
		case e.Open:
			return "UNBOUNDED " + open
		case e.At < 0:
			return fmt.Sprintf("%d PRECEDING", -e.At)
		case e.At > 0:
			return fmt.Sprintf("%d FOLLOWING", e.At)
		}
		return "CURRENT ROW"
	}
	return mode + " BETWEEN " + end(f.Start, "PRECEDING") + " AND " + end(f.End, "FOLLOWING")
}
