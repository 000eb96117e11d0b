package dialect

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// source prints a relation for a FROM clause, with the fields that are used so far. Field i is
// called f followed by i.
func (p *Printer) source(f *frame) string {
	outer := p.row
	p.row = nil // a relation names no row around it
	defer func() { p.row = outer }()
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
func (p *Printer) scan(s *tree.Scan, f *frame) string {
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
func (p *Printer) pathScan(s *tree.Scan, t *Table, f *frame) string {
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

// join prints JOIN, LEFT JOIN and FULL JOIN.
func (p *Printer) join(j *tree.Join, f *frame) string {
	l, r := p.frame(j.L), p.frame(j.R)
	both := tuple{l, r}
	list := f.fields(func(i int) string {
		if j.Full && i == j.UnitField {
			return "coalesce(" + both.field(j.L.Unit()) + ", " + both.field(len(l.used)+j.R.Unit()) + ")"
		}
		return both.field(i)
	})
	on, exists := "", p.exists
	p.exists = false
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
		on = p.exprOf(both, j.On)
	}
	asks := p.exists
	p.exists = exists || asks
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
	first, last := p.source(l), p.source(r)
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
func (p *Printer) size(r tree.Relation) (rows int64) {
	r.EachTable(func(t *policy.Table) { rows = max(rows, p.Tables[t.Name].Rows) })
	return rows
}

// condition prints what there may be none of.
func (p *Printer) condition(row tuple, e tree.Expr) string {
	if e == nil {
		return ""
	}
	return p.exprOf(row, e)
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
func (p *Printer) leftJoin(f, l, r *frame, on string) string {
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
		return "SELECT " + pairs + " FROM " + p.source(l) + " JOIN " + p.source(r) + " ON " + on + " UNION ALL SELECT " + alone + " FROM " +
			p.source(l) + " WHERE NOT EXISTS (SELECT 1 FROM " + p.source(r) + " WHERE " + on + ")"
	}
	kept := f.fields(func(i int) string { return fmt.Sprintf("f%d", i) })
	left, all := "l"+l.alias, "p"+l.alias
	numbered := "(SELECT *, row_number() OVER () AS n FROM " + p.source(l) + ")"
	first, last := left+" AS "+l.alias, p.source(r)
	if p.size(l.relation) < p.size(r.relation) {
		first, last = last, first
	}
	return "WITH " + left + " AS " + p.Once + numbered + ", " +
		all + " AS " + p.Once + "(SELECT " + pairs + ", " + l.alias + ".n AS n FROM " + first + " JOIN " + last + " ON " + on + ") " +
		"SELECT " + kept + " FROM " + all + " UNION ALL SELECT " + alone + " FROM " + left + " AS " + l.alias +
		" WHERE n NOT IN (SELECT n FROM " + all + ")"
}

// selection prints a subquery without aggregates.
func (p *Printer) selection(s *tree.Select, f *frame) string {
	from := p.frame(s.From)
	list := f.fields(func(i int) string { return p.exprOf(tuple{from}, s.Columns[i]) })
	where := ""
	if s.Where != nil {
		where = " WHERE " + p.exprOf(tuple{from}, s.Where)
	}
	return "SELECT " + list + " FROM " + p.source(from) + where
}

// union prints UNION ALL. All parts have the same fields, and the types that are brought together
// are those of integers of different widths. Identities that are not the unit may be of different
// things, and of any types.
func (p *Printer) union(u *tree.Union, f *frame) string {
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
		parts[i] = "SELECT " + list + " FROM " + p.source(one)
	}
	return strings.Join(parts, " UNION ALL ")
}
