package duckdb

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// from prints a relation for a FROM clause, with the fields that are used so far. Field i is called f followed by i.
func (p *printer) from(f *frame) string {
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
	case *tree.Cut:
		text = p.cut(r, f)
	default:
		panic(fmt.Sprintf("duckdb: no SQL for %T", r))
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
func (p *printer) scan(s *tree.Scan, f *frame) string {
	t := p.tables[s.Table.Name]
	fields := s.Fields()
	if unit := s.Unit(); unit >= 0 && f.used[unit] && len(t.Path) > 1 {
		return p.alongPath(s, t, f)
	}
	list := f.fields(func(i int) string {
		switch {
		case fields[i].Type.Kind != tree.Identity:
			return t.declared(fields[i].Name)
		case s.Stored(i) == "":
			return t.rowIdentity()
		}
		return p.identity(t, s.Stored(i), fields[i].Identity)
	})
	for i, loose := range f.loose {
		if !loose {
			continue
		}
		list += fmt.Sprintf(", %s AS r%d", t.onLattice(fields[i].Name), i)
	}
	return "SELECT " + list + " FROM " + t.from
}

// alongPath prints a table with the unit that its path leads to. Rows that lead to nobody are not there.
func (p *printer) alongPath(s *tree.Scan, t *table, f *frame) string {
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
			return t.declared(fields[i].Name)
		}
		return p.identity(t, s.Stored(i), fields[i].Identity)
	})
	first := t.Path[0]
	text := "SELECT " + list + " FROM (SELECT " + inner + ", " + p.identity(t, first.Column, identityOf(first)) + " AS u FROM " + t.from + ") AS " + own.alias
	before := own.alias
	for k := 1; k <= last; k++ {
		// Each step enters a table by its key and leaves it by the next step's column.
		in, out := t.Path[k-1], t.Path[k]
		through := p.tables[in.Table]
		text += fmt.Sprintf(" JOIN (SELECT %s AS k, %s AS u FROM %s) AS s%d ON %s.u = s%d.k",
			p.identity(through, in.Key, identityOf(in)), p.identity(through, out.Column, identityOf(out)), through.from, k, before, k)
		before = fmt.Sprintf("s%d", k)
	}
	return text
}

// join prints JOIN and LEFT JOIN.
func (p *printer) join(j *tree.Join, f *frame) string {
	l, r := p.frame(j.L), p.frame(j.R)
	both := tuple{l, r}
	list := f.fields(both.field)
	on, exists := "", p.exists
	p.exists = false
	if j.On != nil {
		on = p.over(both, j.On)
	}
	asks := p.exists
	p.exists = exists || asks
	how := " JOIN "
	switch {
	case j.Left && (asks || j.On != nil && !byHashes(j.On, len(l.used))):
		return p.leftJoin(f, l, r, on)
	case j.Left:
		how = " LEFT JOIN "
	}
	if on == "" {
		on = "true"
	}
	text := "SELECT " + list + " FROM " + p.from(l) + how + p.from(r) + " ON " + on
	if j.Unit() < 0 {
		// Public relations are joined once, and not anew for each private row: DuckDB does not take them apart again.
		all := f.fields(func(i int) string { return fmt.Sprintf("f%d", i) })
		return "WITH j" + f.alias + " AS MATERIALIZED (" + text + ") SELECT " + all + " FROM j" + f.alias
	}
	return text
}

// leftJoin prints a LEFT JOIN whose condition has a subquery, which DuckDB does not take there, or would make it look at all pairs: the
// pairs, and then the rows of the left side that are in none.
func (p *printer) leftJoin(f, l, r *frame, on string) string {
	n := len(l.used)
	pairs := f.fields(tuple{l, r}.field)
	alone := f.fields(func(i int) string {
		if i < n {
			return fmt.Sprintf("%s.f%d", l.alias, i)
		}
		return "NULL"
	})
	kept := f.fields(func(i int) string { return fmt.Sprintf("f%d", i) })
	left, all := "l"+l.alias, "p"+l.alias
	return "WITH " + left + " AS MATERIALIZED (SELECT *, row_number() OVER () AS n FROM " + p.from(l) + "), " +
		all + " AS MATERIALIZED (SELECT " + pairs + ", " + l.alias + ".n AS n FROM " + left + " AS " + l.alias + " JOIN " + p.from(r) + " ON " + on + ") " +
		"SELECT " + kept + " FROM " + all + " UNION ALL SELECT " + alone + " FROM " + left + " AS " + l.alias + " WHERE n NOT IN (SELECT n FROM " + all + ")"
}

// selection prints a subquery without aggregates.
func (p *printer) selection(s *tree.Select, f *frame) string {
	from := p.frame(s.From)
	list := f.fields(func(i int) string { return p.over(tuple{from}, s.Columns[i]) })
	where := ""
	if s.Where != nil {
		where = " WHERE " + p.over(tuple{from}, s.Where)
	}
	return "SELECT " + list + " FROM " + p.from(from) + where
}

// union prints UNION ALL. All parts have the same fields, and the types that DuckDB brings together are those of
// integers of different widths. Identities that are not the unit may be of different things, and of any types.
func (p *printer) union(u *tree.Union, f *frame) string {
	parts := make([]string, len(u.Parts))
	fields := u.Fields()
	for i, part := range u.Parts {
		one := p.frame(part)
		list := f.fields(func(i int) string {
			if fields[i].Type.Kind == tree.Identity && fields[i].Identity == "" && i != u.Unit() {
				return "TRY_CAST(" + one.field(i) + " AS VARCHAR)"
			}
			return one.field(i)
		})
		parts[i] = "SELECT " + list + " FROM " + p.from(one)
	}
	return strings.Join(parts, " UNION ALL ")
}

// persons prints a subquery with one row for each person. Counts are cut to the limit of rows, sums are added up in 128 bits, and all
// are clamped to what their type says.
func (p *printer) persons(r *tree.Persons, f *frame) string {
	from := p.frame(r.From)
	unit := from.field(r.From.Unit())
	where := " WHERE " + unit + " IS NOT NULL"
	if r.Where != nil {
		where = " WHERE " + p.over(tuple{from}, r.Where) + " AND " + unit + " IS NOT NULL"
	}
	// Arguments are computed for each row before rows are added up.
	inner, aggregates := unit+" AS u", "u AS f0"
	for i, part := range r.Parts {
		if !f.used[i+1] {
			continue
		}
		if part.Arg != nil {
			inner += fmt.Sprintf(", %s AS a%d", p.over(tuple{from}, part.Arg), i)
		}
		aggregates += fmt.Sprintf(", %s AS f%d", ofPerson(part.Kind, i), i+1)
	}
	fields := r.Fields()
	list := f.fields(func(i int) string {
		name := fmt.Sprintf("f%d", i)
		if i == 0 {
			return name
		}
		t := fields[i].Type
		text := clampTo(name, t)
		if !t.Wide() {
			text = "TRY_CAST(" + text + " AS BIGINT)"
		}
		return text
	})
	return "SELECT " + list + " FROM (SELECT " + aggregates + " FROM (SELECT " + inner + " FROM " + p.from(from) + where + ") GROUP BY u)"
}

// ofPerson prints an aggregate of one person's rows. What is summed is proven to fit in 53 bits.
func ofPerson(kind tree.PartKind, i int) string {
	switch kind {
	case tree.PartRows:
		return "count(*)"
	case tree.PartValues:
		return fmt.Sprintf("count(a%d)", i)
	case tree.PartSum:
		return fmt.Sprintf("sum(TRY_CAST(a%d AS BIGINT))", i)
	case tree.PartMin:
		return fmt.Sprintf("min(a%d)", i)
	}
	return fmt.Sprintf("max(a%d)", i)
}
