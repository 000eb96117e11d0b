package policydraft

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/policy"
)

// entry is a table of the catalogue on its way into a draft.
type entry struct {
	*catalogue.Table
	name    string // in the policy
	leftOut string
	trusted bool
	// near is the column that says whose a row is, far where it leads, and others the columns that
	// lead to a person as well.
	near, far string
	direct    bool
	others    []string
	byName    bool // nothing but its name says so
}

// usable reports whether other tables can lead to it.
func (e *entry) usable() bool { return e.leftOut == "" }

// key reports whether a column is different in every row, also as it is read: two numerics of any
// length may be the same double.
func (e *entry) key(column string) bool {
	c, ok := e.Column(column)
	return ok && exactKind(c.Kind) && slices.ContainsFunc(e.Unique, func(u []string) bool { return len(u) == 1 && u[0] == column })
}

func exactKind(k catalogue.Kind) bool {
	switch k {
	case catalogue.Int16, catalogue.Int32, catalogue.Int64, catalogue.Decimal, catalogue.Text, catalogue.Padded, catalogue.UUID:
		return true
	}
	return false
}

// alike reports whether two columns are stored in types that a path can join.
func alike(a, b catalogue.Column) bool {
	whole := func(k catalogue.Kind) bool {
		return k == catalogue.Int16 || k == catalogue.Int32 || k == catalogue.Int64
	}
	text := func(k catalogue.Kind) bool { return k == catalogue.Text || k == catalogue.Padded }
	switch {
	case !exactKind(a.Kind) || !exactKind(b.Kind):
		return false
	case whole(a.Kind) && whole(b.Kind), text(a.Kind) && text(b.Kind):
		return true
	case a.Kind == catalogue.Decimal && b.Kind == catalogue.Decimal:
		return a.Scale == b.Scale
	}
	return a.Kind == b.Kind
}

type draftTables []*entry

func (all draftTables) find(schema, table string) *entry {
	i := slices.IndexFunc(all, func(e *entry) bool { return e.Schema == schema && e.Name == table })
	if i < 0 {
		return nil
	}
	return all[i]
}

func (all draftTables) named(name string) *entry {
	i := slices.IndexFunc(all, func(e *entry) bool { return e.name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// referred is the key by which other tables refer to one, as they do to a list of codes; or
// nothing.
func (all draftTables) referred(to *entry) string {
	for _, e := range all {
		for _, r := range e.References {
			if e != to && r.Schema == to.Schema && r.Table == to.Name && len(r.Far) == 1 && to.key(r.Far[0]) {
				return r.Far[0]
			}
		}
	}
	return ""
}

// people are words that tables of people are called by.
var people = regexp.MustCompile(`(?i)^(.*_)?(patient|person|people|customer|client|member|subject|participant|respondent|student|employee|` +
	`citizen|insured|user|kunde|personne|persona)(s|n|en)?$`)

// guessUnit is the table to which most foreign keys lead, of those that are called like people
// where there are some, and its column.
func (all draftTables) guessUnit(unreferenced bool) (unit, note string) {
	if unreferenced {
		return all.guessByName()
	}
	type candidate struct {
		e      *entry
		column string
		n      int
	}
	var best *candidate
	for _, word := range []bool{true, false} {
		for _, e := range all {
			if !e.usable() || word != people.MatchString(e.Name) {
				continue
			}
			c := candidate{e: e}
			counts := map[string]int{}
			for _, from := range all {
				for _, r := range from.References {
					if from != e && r.Schema == e.Schema && r.Table == e.Name {
						c.n++
						for _, far := range r.Far {
							counts[far]++
						}
					}
				}
			}
			for _, u := range e.Unique {
				if len(u) == 1 && e.key(u[0]) && (c.column == "" || counts[u[0]] > counts[c.column]) {
					c.column = u[0]
				}
			}
			if c.column != "" && (c.n > 0 || word) && (best == nil || c.n > best.n) {
				best = &c
			}
		}
		if best != nil {
			break
		}
	}
	if best == nil {
		return "", "NOT KNOWN: no foreign key leads to a table of people. If a table holds the people you protect, draft again with " +
			"--unit TABLE.COLUMN."
	}
	unit = best.e.name + "." + best.column
	return unit, fmt.Sprintf("GUESSED: of the tables that may be about people, %s is the one that most foreign keys lead to (%d). "+
		"Is each of its rows one person? Otherwise draft again with --unit TABLE.COLUMN: it names what the budget "+
		"protects.", best.e.name, best.n)
}

// step is one way from a table towards the unit.
type step struct {
	near, far string
	direct    bool
	rank      int // the smaller the likelier
}

// findPaths says of each table whose its rows are: by foreign keys, in as many steps as it takes,
// and then by a column that is called like the unit's.
func (all draftTables) findPaths(unit string, given map[string]string) {
	table, column, _ := strings.Cut(unit, ".")
	root := all.named(table)
	if root == nil {
		return
	}
	root.near, root.far, root.direct = column, unit, true
	reached := []*entry{root}
	for _, e := range all {
		if text, ok := given[e.name]; ok && e != root {
			near, far, led := strings.Cut(text, "->")
			e.near, e.far = strings.TrimSpace(near), strings.TrimSpace(far)
			if e.direct = !led || e.far == unit; !led {
				e.far = unit
			}
			reached = append(reached, e)
		}
	}
	for grown := true; grown; {
		grown = false
		var next []*entry
		for _, e := range all {
			if !e.usable() || slices.Contains(reached, e) {
				continue
			}
			if steps := all.steps(e, reached, root); len(steps) > 0 {
				next, grown = append(next, e), true
				e.take(steps)
			}
		}
		reached = append(reached, next...)
		if !grown {
			grown = all.byName(&reached, root, column)
		}
	}
	for _, e := range all {
		if e.near == "" && e.usable() {
			e.leftOut = all.explainCompound(e, reached)
		}
	}
}

// explainCompound says of a table that it leads towards the unit by several columns at once, which
// no path does: as to a partitioned table, whose keys have the column in them that it is divided
// by.
func (all draftTables) explainCompound(e *entry, reached []*entry) string {
	for _, r := range e.References {
		to := all.find(r.Schema, r.Table)
		if len(r.Far) < 2 || to == nil || !slices.Contains(reached, to) {
			continue
		}
		return fmt.Sprintf("%s leads to %s by %s together, but a path uses one column. If one of them is different in every row of "+
			"%s by itself, draft again with --person '%s=%s -> %s.%s', or with that column in its place.", e.Relation(), to.name,
			strings.Join(r.Columns, ", "), to.name, e.name, r.Columns[0], to.name, r.Far[0])
	}
	return ""
}

// byName finds tables with a column that is called like the unit's. An id is every table's own.
func (all draftTables) byName(reached *[]*entry, root *entry, column string) bool {
	far, _ := root.Column(column)
	grown := false
	for _, e := range all {
		c, ok := e.Column(column)
		if !ok || !e.usable() || slices.Contains(*reached, e) || strings.EqualFold(column, "id") || !alike(c, far) {
			continue
		}
		e.near, e.far, e.direct, e.byName = column, root.name+"."+column, true, true
		*reached, grown = append(*reached, e), true
	}
	return grown
}

// steps lists the foreign keys of a table that lead towards the unit.
func (all draftTables) steps(e *entry, reached []*entry, root *entry) []step {
	var out []step
	add := func(near, far string, to *entry, direct bool) {
		a, ok1 := e.Column(near)
		b, ok2 := to.Column(far)
		if !ok1 || !ok2 || !alike(a, b) || policy.CheckRelation("x", near) != "" || strings.Contains(near+far, "->") {
			return
		}
		s := step{near: near, far: to.name + "." + far, direct: direct}
		if direct {
			s.far = root.far
		} else {
			s.rank += 4
		}
		if near != root.near {
			s.rank += 2
		}
		if !a.NotNull {
			s.rank++
		}
		if !slices.ContainsFunc(out, func(o step) bool { return o.near == s.near }) {
			out = append(out, s)
		}
	}
	for _, r := range e.References {
		to := all.find(r.Schema, r.Table)
		if to == nil || to == e || !slices.Contains(reached, to) {
			continue
		}
		for i, far := range r.Far {
			switch {
			case to.direct && far == to.near:
				add(r.Columns[i], far, to, true) // it is the person's own name
			case len(r.Far) == 1 && to != root && to.key(far):
				add(r.Columns[i], far, to, false)
			}
		}
	}
	return out
}

// take chooses the likeliest way, and keeps the others to tell of them.
func (e *entry) take(steps []step) {
	slices.SortStableFunc(steps, func(a, b step) int { return a.rank - b.rank })
	e.near, e.far, e.direct = steps[0].near, steps[0].far, steps[0].direct
	for _, s := range steps[1:] {
		if s.direct || !e.direct { // through another table it is most often the same person
			e.others = append(e.others, s.near)
		}
	}
}

// pathNote says why a path is what it is, and what is in doubt about it.
func (e *entry) pathNote() string {
	var out []string
	switch {
	case e.byName:
		out = append(out, "BY ITS NAME ONLY: no foreign key says that "+e.near+" is the same person. Is it?")
	default:
		out = append(out, "By a foreign key.")
	}
	if c, _ := e.Column(e.near); !c.NotNull {
		out = append(out, "Rows without "+e.near+" belong to nobody and are in no answer.")
	}
	if len(e.others) > 0 {
		out = append(out, fmt.Sprintf("TWO PEOPLE IN A ROW? %s may lead to a person as well. A row belongs to the person that the "+
			"path names; what it says about another person is not protected for that person.", strings.Join(e.others, ", ")))
	}
	return strings.Join(out, " ")
}

// guessByName is the table that is called like people, and its column by whose name most other
// tables have one. Where no table has such a name, any may be it.
func (all draftTables) guessByName() (unit, note string) {
	best, where, column := 0, (*entry)(nil), ""
	for _, word := range []bool{true, false} {
		for _, e := range all {
			if !e.usable() || word != people.MatchString(e.Name) {
				continue
			}
			for _, c := range e.Columns {
				if n := all.alsoIn(e, c.Name); n > best {
					best, where, column = n, e, c.Name
				}
			}
		}
		if where != nil {
			return where.name + "." + column, fmt.Sprintf("GUESSED: %d other tables have a column with the name of its column %s. "+
				"Is each of its values one person, in all of them? Otherwise draft again with --unit TABLE.COLUMN: it names what "+
				"the budget protects.",
				best, column)
		}
	}
	for _, e := range all {
		for _, c := range e.Columns {
			if e.usable() && people.MatchString(e.Name) && exactKind(c.Kind) && namesSomebody(c.Name) {
				return e.name + "." + c.Name, fmt.Sprintf("GUESSED by the names of the table %s and of its column %s. Is each of its "+
					"values one person? Otherwise draft again with --unit TABLE.COLUMN: it names what the budget protects.",
					e.name, c.Name)
			}
		}
	}
	return "", ""
}

// namesSomebody reports whether a column is called like one that says who somebody is.
func namesSomebody(column string) bool {
	low := strings.ToLower(column)
	return strings.HasSuffix(low, "id") || strings.HasSuffix(low, "key") || strings.HasSuffix(low, "nr")
}

// alsoIn counts the other tables with a column of a name that can be the same person's.
func (all draftTables) alsoIn(e *entry, column string) int {
	own, _ := e.Column(column)
	if strings.EqualFold(column, "id") || !exactKind(own.Kind) || !namesSomebody(column) {
		return 0
	}
	n := 0
	for _, o := range all {
		if c, ok := o.Column(column); ok && o != e && o.usable() && alike(c, own) {
			n++
		}
	}
	return n
}
