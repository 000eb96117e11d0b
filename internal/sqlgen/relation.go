package sqlgen

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

type relationPrinter struct {
	*output
	exprs *ExprPrinter
}

// from prints a relation for a FROM clause, with the fields that are used so far. Field i is
// called f followed by i.
func (p *relationPrinter) from(f *frame) string {
	outer := p.exprs.row
	p.exprs.row = nil // a relation names no row around it
	defer func() { p.exprs.row = outer }()
	var text string
	switch r := f.relation.(type) {
	case *tree.Scan:
		text = p.scan(r, f)
	case *tree.Join:
		text = p.join(r, f)
	case *tree.Select:
		text = p.selection(r, f)
	case *tree.Union:
		text = p.union(r, f)
	case *tree.Persons:
		text = p.persons(r, f)
	case *tree.Window:
		text = p.window(r, f)
	case *tree.Cut:
		text = p.cut(r, f)
	default:
		panic(fmt.Sprintf("dialect: no SQL for %T", r))
	}
	return "(" + text + ") AS " + f.alias
}

// fields prints a SELECT list of the used fields.
func (f *frame) fields(print func(i int) string) string {
	var list []string
	for i, used := range f.used {
		if used {
			list = append(list, fmt.Sprintf("%s AS f%d", print(i), i))
		}
	}
	if len(list) == 0 {
		return "1 AS c" // rows to be counted
	}
	return strings.Join(list, ", ")
}

// scan prints a table: listed columns as declared, identities as stored.
func (p *relationPrinter) scan(s *tree.Scan, f *frame) string {
	t := p.Tables[s.Table.Name]
	fields := s.Fields()
	if unit := s.Unit(); unit >= 0 && f.used[unit] && len(t.Path) > 1 {
		return p.pathScan(s, t, f)
	}
	list := f.fields(func(i int) string {
		switch {
		case fields[i].Type.Kind != tree.Identity:
			return t.Declared(fields[i].Name)
		case s.Stored(i) == "":
			return t.rowIdentity()
		}
		return p.Identity(t, s.Stored(i), fields[i].Identity)
	})
	for i, loose := range f.loose {
		if !loose {
			continue
		}
		list += fmt.Sprintf(", %s AS r%d", t.lattice(fields[i].Name), i)
	}
	for i, coded := range f.coded {
		if coded {
			list += fmt.Sprintf(", %s AS c%d", QuoteName(t.Codes[fields[i].Name]), i)
		}
	}
	if f.number {
		list += ", " + QuoteName(t.Number) + " AS n"
	}
	return "SELECT " + list + " FROM " + t.From
}

// pathScan prints a table with the unit that its path leads to. Rows that lead to nobody are not
// there.
func (p *relationPrinter) pathScan(s *tree.Scan, t *Table, f *frame) string {
	fields, last := s.Fields(), len(t.Path)-1
	own := p.frame(s)
	list := f.fields(func(i int) string {
		if i == s.Unit() {
			return fmt.Sprintf("s%d.u", last)
		}
		return own.field(i)
	})
	inner := own.fields(func(i int) string {
		if fields[i].Type.Kind != tree.Identity {
			return t.Declared(fields[i].Name)
		}
		return p.Identity(t, s.Stored(i), fields[i].Identity)
	})
	first := t.Path[0]
	text := "SELECT " + list + " FROM (SELECT " + inner + ", " + p.Identity(t, first.Column, StepIdentity(first)) + " AS u FROM " +
		t.From + ") AS " + own.alias
	before := own.alias
	for k := 1; k <= last; k++ {
		// Each step enters a table by its key and leaves it by the next step's column.
		in, out := t.Path[k-1], t.Path[k]
		through := p.Tables[in.Table]
		text += fmt.Sprintf(" JOIN (SELECT %s AS k, %s AS u FROM %s) AS s%d ON %s.u = s%d.k",
			p.Identity(through, in.Key, StepIdentity(in)), p.Identity(through, out.Column, StepIdentity(out)), through.From, k, before, k)
		before = fmt.Sprintf("s%d", k)
	}
	return text
}

func (p *relationPrinter) join(j *tree.Join, f *frame) string {
	l, r := p.frame(j.L), p.frame(j.R)
	both := tuple{l, r}
	list := f.fields(func(i int) string {
		if j.Full && i == j.UnitField {
			return "coalesce(" + both.field(j.L.Unit()) + ", " + both.field(len(l.used)+j.R.Unit()) + ")"
		}
		return both.field(i)
	})
	on, exists := "", p.exprs.exists
	p.exprs.exists = false
	// A LEFT JOIN that is turned round asks what is asked of its right side alone before: it would
	// be asked of every pair.
	turned, before := p.size(j.L) < p.size(j.R), ""
	switch {
	case j.On == nil:
		turned = turned && !j.Left
	case turned && j.Left && j.Hashable():
		of, others := j.Apart()
		before, on = p.condition(both, of), p.condition(both, others)
	default:
		on = p.exprs.exprOver(both, j.On)
	}
	asks := p.exprs.exists
	p.exprs.exists = exists || asks
	how := " JOIN "
	switch {
	case j.Full: // on the person alone
		how = " FULL JOIN "
	case j.Left && (asks || j.On != nil && !j.Hashable()):
		return p.leftJoin(f, l, r, all(before, on))
	case j.Left && turned:
		how = " RIGHT JOIN "
	case j.Left:
		how = " LEFT JOIN "
	}
	if on == "" {
		on = "true"
	}
	first, last := p.from(l), p.from(r)
	if before != "" {
		last = "(SELECT * FROM " + last + " WHERE " + before + ") AS " + r.alias
	}
	if turned {
		first, last = last, first
	}
	text := "SELECT " + list + " FROM " + first + how + last + " ON " + on
	if j.Unit() < 0 {
		// Public relations are joined once, and not anew for each private row: a database does not
		// take them apart again.
		all := f.fields(func(i int) string { return fmt.Sprintf("f%d", i) })
		return "WITH j" + f.alias + " AS " + p.Once + "(" + text + ") SELECT " + all + " FROM j" + f.alias
	}
	return text
}

// size is about how many rows a relation has, where that is public: those of its largest table. Of
// what is joined, the last side is put into a table of hashes, so it is the smaller one. A database
// that chooses the side itself goes by the rows there are, to the last one.
func (p *relationPrinter) size(r tree.Relation) (rows int64) {
	r.EachTable(func(t *policy.Table) { rows = max(rows, p.Tables[t.Name].Rows) })
	return rows
}

// condition prints what there may be none of.
func (p *relationPrinter) condition(row tuple, e tree.Expr) string {
	if e == nil {
		return ""
	}
	return p.exprs.exprOver(row, e)
}

// all joins conditions, of which each may be none.
func all(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return "(" + a + ") AND (" + b + ")"
}

// leftJoin prints a LEFT JOIN whose condition has a subquery, which DuckDB does not take there, or
// would make it look at all pairs: the pairs, and then the rows of the left side that are in none.
func (p *relationPrinter) leftJoin(f, l, r *frame, on string) string {
	n := len(l.used)
	pairs := f.fields(tuple{l, r}.field)
	alone := f.fields(func(i int) string {
		if i < n {
			return fmt.Sprintf("%s.f%d", l.alias, i)
		}
		return "NULL"
	})
	if p.Once == "" {
		// Whatever has a name in WITH is computed where it is named, so rows could have other
		// numbers there: who has no partner is asked of each row.
		return "SELECT " + pairs + " FROM " + p.from(l) + " JOIN " + p.from(r) + " ON " + on + " UNION ALL SELECT " + alone + " FROM " +
			p.from(l) + " WHERE NOT EXISTS (SELECT 1 FROM " + p.from(r) + " WHERE " + on + ")"
	}
	kept := f.fields(func(i int) string { return fmt.Sprintf("f%d", i) })
	left, all := "l"+l.alias, "p"+l.alias
	numbered := "(SELECT *, row_number() OVER () AS n FROM " + p.from(l) + ")"
	first, last := left+" AS "+l.alias, p.from(r)
	if p.size(l.relation) < p.size(r.relation) {
		first, last = last, first
	}
	return "WITH " + left + " AS " + p.Once + numbered + ", " +
		all + " AS " + p.Once + "(SELECT " + pairs + ", " + l.alias + ".n AS n FROM " + first + " JOIN " + last + " ON " + on + ") " +
		"SELECT " + kept + " FROM " + all + " UNION ALL SELECT " + alone + " FROM " + left + " AS " + l.alias +
		" WHERE n NOT IN (SELECT n FROM " + all + ")"
}

func (p *relationPrinter) selection(s *tree.Select, f *frame) string {
	from := p.frame(s.From)
	list := f.fields(func(i int) string { return p.exprs.exprOver(tuple{from}, s.Columns[i]) })
	where := ""
	if s.Where != nil {
		where = " WHERE " + p.exprs.exprOver(tuple{from}, s.Where)
	}
	return "SELECT " + list + " FROM " + p.from(from) + where
}

// union prints UNION ALL. All parts have the same fields, and the types that are brought together
// are those of integers of different widths. Identities that are not the unit may be of different
// things, and of any types.
func (p *relationPrinter) union(u *tree.Union, f *frame) string {
	parts := make([]string, len(u.Parts))
	fields := u.Fields()
	for i, part := range u.Parts {
		one := p.frame(part)
		list := f.fields(func(i int) string {
			if fields[i].Type.Kind == tree.Identity && fields[i].Identity == "" && i != u.Unit() {
				return p.TryCast(one.field(i), p.Text)
			}
			return one.field(i)
		})
		parts[i] = "SELECT " + list + " FROM " + p.from(one)
	}
	return strings.Join(parts, " UNION ALL ")
}

// persons prints a subquery with one row for each person, or for each person and key. Counts are
// cut to the limit of rows, sums are added up in 128 bits, and all are clamped to what their type
// says.
func (p *relationPrinter) persons(r *tree.Persons, f *frame) string {
	from := p.frame(r.From)
	unit := from.field(r.From.Unit())
	where := p.whereSomebody(from, r.Where, unit)
	// Arguments are computed for each row before rows are added up.
	inner, group := []string{unit + " AS u"}, []string{"u"}
	outer := []string{"u AS f0"}
	for i, e := range r.Keys { // all of them: they say which rows are one group
		inner = append(inner, fmt.Sprintf("%s AS k%d", p.exprs.exprOver(tuple{from}, e), i))
		group = append(group, fmt.Sprintf("k%d", i))
		outer = append(outer, fmt.Sprintf("k%d AS f%d", i, i+1))
	}
	first := r.First()
	for i, part := range r.Parts {
		if !f.used[first+i] {
			continue
		}
		if part.Arg != nil {
			inner = append(inner, fmt.Sprintf("%s AS a%d", p.exprs.exprOver(tuple{from}, part.Arg), i))
		}
		outer = append(outer, fmt.Sprintf("%s AS f%d", p.aggregate(part, fmt.Sprintf("a%d", i), ""), first+i))
	}
	fields := r.Fields()
	list := f.fields(func(i int) string {
		name := fmt.Sprintf("f%d", i)
		if i < first {
			return name
		}
		return p.clampComputed(name, fields[i].Type)
	})
	return "SELECT " + list + " FROM (SELECT " + strings.Join(outer, ", ") + " FROM (SELECT " + strings.Join(inner, ", ") + " FROM " +
		p.from(from) + where + ") GROUP BY " + strings.Join(group, ", ") + ")"
}

// whereSomebody prints the condition on rows of which each is somebody's.
func (p *relationPrinter) whereSomebody(from *frame, where tree.Expr, unit string) string {
	if where == nil {
		return " WHERE " + unit + " IS NOT NULL"
	}
	return " WHERE " + p.exprs.exprOver(tuple{from}, where) + " AND " + unit + " IS NOT NULL"
}

// clampComputed prints a value that was computed from several rows, inside of what its type says.
func (p *relationPrinter) clampComputed(x string, t tree.Type) string {
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
func (p *relationPrinter) aggregate(part tree.Part, x, over string) string {
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

// cut prints at most so many rows of each person, those with the smallest salted hash of what is in
// them, and no rows of nobody. Rows that are equal are as good as each other, so the choice is one
// of the person's rows and of nothing else.
//
// To put all rows of all people into an order takes thirty times as long as to count them. So only
// people who have more are looked at again, and of somebody who has very many only rows with a
// small hash are sorted: a share that follows from how many this person has. Where many of those
// are equal, fewer may be kept than could be.
func (p *relationPrinter) cut(c *tree.Cut, f *frame) string {
	in := p.frame(c.From)
	var what, hashed []string
	for i, field := range c.Fields() {
		name := strings.TrimPrefix(in.field(i), in.alias+".")
		if i == c.Unit() {
			continue
		}
		what, hashed = append(what, name), append(hashed, name)
		if field.Type.Kind == tree.Real {
			// 0 and -0 are equal, so which of them a minimum is, or the first of two rows, is left
			// to a database. They are spelled in two ways.
			hashed[len(hashed)-1] = fmt.Sprintf("CASE WHEN %[1]s = 0 THEN %[2]s ELSE %[1]s END", name, p.Double("0"))
		}
	}
	unit, all, many := fmt.Sprintf("f%d", c.Unit()), "r"+f.alias, "m"+f.alias
	hash := p.Hash(append([]string{p.typedParameter(c.Salt(), p.Text)}, hashed...)...)
	order := strings.Join(append([]string{"h"}, what...), ", ")
	list := f.fields(func(i int) string { return fmt.Sprintf("f%d", i) })
	once := p.Once
	if s, ok := c.From.(*tree.Scan); ok && len(s.Table.Path) <= 1 {
		once = p.Again // to read it again is faster than to keep it
	}
	on := fmt.Sprintf("%s.%s = %s.u", all, unit, many)
	text := fmt.Sprintf("WITH %[1]s AS %[2]s(SELECT * FROM %[3]s), "+
		"%[4]s AS %[11]s(SELECT %[5]s AS u, count(*) AS n FROM %[1]s GROUP BY %[5]s HAVING count(*) > %[6]d) "+
		"SELECT %[7]s FROM %[12]s "+
		"UNION ALL SELECT %[7]s FROM (SELECT *, row_number() OVER (PARTITION BY %[5]s ORDER BY %[8]s) AS i FROM "+
		"(SELECT %[1]s.*, %[9]s AS h, n FROM %[1]s JOIN %[4]s ON %[13]s) WHERE %[10]s) WHERE i <= %[6]d",
		all, once, p.from(in), many, unit, c.Rows, list, order, hash, p.Smallest("h", "n", 2*c.Rows+sorted),
		p.Once, p.AntiJoin(all, many, on, unit+" IS NOT NULL"), on)
	// Nothing that stands above is computed below, for rows that are left out: a database would
	// move a condition there.
	return "WITH c" + f.alias + " AS " + p.Once + "(" + text + ") SELECT " + list + " FROM c" + f.alias
}

// sorted is how many rows of one person are put into an order in no time worth speaking of.
const sorted = 16_000
