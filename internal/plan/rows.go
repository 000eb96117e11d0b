package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// rows is a relation with the names that a SELECT has for its fields.
type rows struct {
	tree.Relation
	names []binding
	// around are the names outside of a subquery in a condition, over the same fields.
	around *rows
	// said are the conditions of WHERE that the joins of FROM have taken.
	said []*pg.Node
}

// binding is a name of FROM and the fields it stands for.
type binding struct {
	name       string
	from, upto int
	// merged fields were joined by USING: the other side's name means the same.
	hidden []int
}

// joined puts the names of two sides side by side.
func (l rows) joined(r rows, j *tree.Join) (rows, error) {
	out := rows{Relation: j, names: slices.Clone(l.names)}
	n := len(l.Fields())
	for _, b := range r.names {
		if slices.ContainsFunc(l.names, func(a binding) bool { return a.name != "" && strings.EqualFold(a.name, b.name) }) {
			return rows{}, syntax.Refuse(-1, "give one of them another name, as in FROM visits AS a JOIN visits AS b",
				"two tables of the question are called %q", b.name)
		}
		hidden := make([]int, len(b.hidden))
		for i, h := range b.hidden {
			hidden[i] = h + n
		}
		out.names = append(out.names, binding{b.name, b.from + n, b.upto + n, hidden})
	}
	return out, nil
}

// resolve finds a field by its name, perhaps with its table's.
func (r rows) resolve(name string, pos int32) (*tree.Column, error) {
	qualifier, column, qualified := strings.Cut(name, "\x00")
	if !qualified {
		column = qualifier
	}
	var found []int
	seen := false
	var near []string
	for _, b := range r.names {
		if qualified && !strings.EqualFold(b.name, qualifier) {
			continue
		}
		seen = true
		var here []int
		for i := b.from; i < b.upto; i++ {
			f := r.Fields()[i]
			if f.Name == "" {
				continue
			}
			near = append(near, f.Name)
			if strings.EqualFold(f.Name, column) && (qualified || !slices.Contains(b.hidden, i)) {
				here = append(here, i)
			}
		}
		// A listed column comes before the same one as it is stored.
		if len(here) > 1 {
			here = slices.DeleteFunc(here, func(i int) bool { return r.Fields()[i].Raw() })
		}
		found = append(found, here...)
	}
	if r.around != nil && len(found) == 0 {
		return r.around.resolve(name, pos)
	}
	switch {
	case qualified && !seen:
		return nil, syntax.Refuse(pos, "the tables here are "+r.bindings(), "there is no table %q in this question",
			qualifier).WithCode(syntax.NoTable)
	case len(found) == 0:
		slices.Sort(near)
		near = slices.Compact(near)
		more := ""
		if len(near) > 20 {
			near, more = near[:20], ", ..."
		}
		return nil, syntax.Refuse(pos, "the columns of "+r.bindings()+" are "+strings.Join(near, ", ")+more, "there is no column %q",
			column).WithCode(syntax.NoColumn)
	case len(found) > 1:
		instead := "name those of both tables, as in COALESCE(a." + column + ", b." + column + ")"
		for _, i := range found { // what a FULL JOIN has made of two columns is in no table
			if table := r.owner(i); table != "" {
				instead = "write its table before it, as in " + table + "." + column
				break
			}
		}
		return nil, syntax.Refuse(pos, instead, "the column %q is in several tables", column)
	}
	return tree.NewColumn(r.Relation, found[0]), nil
}

// hide says that some fields are not meant by their names alone.
func (r *rows) hide(fields []int) {
	for i := range r.names {
		for _, h := range fields {
			if h >= r.names[i].from && h < r.names[i].upto {
				r.names[i].hidden = append(slices.Clone(r.names[i].hidden), h)
			}
		}
	}
}

// withPerson gives the person of a FULL JOIN a name.
func (r rows) withPerson(name string) rows {
	j := *r.Relation.(*tree.Join)
	j.Row = slices.Clone(j.Row)
	j.Row[j.UnitField].Name = name
	r.Relation = &j
	r.names = append([]binding{{from: j.UnitField, upto: j.UnitField + 1}}, r.names...)
	return r
}

// visible are the names of columns that need no table before them.
func (r rows) visible() []string {
	var out []string
	for _, b := range r.names {
		for i := b.from; i < b.upto; i++ {
			if name := r.Fields()[i].Name; name != "" && !slices.Contains(b.hidden, i) {
				out = append(out, name)
			}
		}
	}
	return out
}

func (r rows) bindings() string {
	names := make([]string, len(r.names))
	for i, b := range r.names {
		names[i] = b.name
	}
	return strings.Join(names, ", ")
}

func (r rows) owner(field int) string {
	for _, b := range r.names {
		if field >= b.from && field < b.upto {
			return b.name
		}
	}
	return ""
}

// renamed gives all fields one table's name, and perhaps columns new names.
func renamed(r tree.Relation, name string, columns []string, pos int32) (rows, error) {
	if len(columns) > 0 {
		return rows{}, syntax.Refuse(pos, "name the columns inside the subquery, as in SELECT x AS y",
			"a list of column names after an alias cannot be used")
	}
	return rows{Relation: r, names: []binding{{name: name, upto: len(r.Fields())}}}, nil
}
