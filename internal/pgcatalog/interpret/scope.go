package interpret

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// binder turns a parsed SELECT into something that runs. Types are decided here, once.
type binder struct {
	run     *run
	library Library
	types   *typeBinder
	queries int
}

// env is a SELECT while it runs.
type env struct {
	run   *run
	outer *env
	row   []datum.Tuple // by the numbers of the relations in FROM
	aggs  []datum.Value
	wins  []datum.Value
	srfs  []datum.Value
	out   datum.Tuple // the output, while what it is sorted by is evaluated
}

// enclosing is the env of the SELECT that stands n levels further out.
func (e *env) enclosing(n int) *env {
	for ; n > 0; n-- {
		e = e.outer
	}
	return e
}

// field is a column that can be named.
type field struct {
	name string
	expr func() *expr // marks what it refers to
}

// named finds the field of a name, and whether there are several.
func named(fields []field, name string) (found *field, several bool) {
	for i := range fields {
		if fields[i].name == name {
			if found != nil {
				return nil, true
			}
			found = &fields[i]
		}
	}
	return found, false
}

// space is a name in FROM with its columns.
type space struct {
	alias   string
	schema  string // where the relation was named with one or could be
	fields  []field
	whole   func() *expr // the row as a record
	heading *Heading
	rte     int
}

// scope is what a SELECT can name.
type scope struct {
	binder *binder
	outer  *scope
	// hidden: columns of the next scope outside cannot be seen, as from a subquery in FROM without
	// LATERAL.
	hidden bool

	spaces []*space
	stars  []field // what * means, and what can be named without a relation
	rtes   int
	refs   uint64 // relations that were referred to since this was last set to 0
	// escapes: something further out was referred to.
	escapes bool

	ctes map[string]*cte

	aggs    []*aggregate
	wins    []*window
	srfs    []*binding
	allowed allowance
	// group is set while what may be grouped is read.
	group *grouping
}

// allowance is what may be called in the clause that is read.
type allowance struct {
	aggregates, windows, sets bool
	clause                    string // for messages
}

// child is the scope of a SELECT inside of this one.
func (s *scope) child(hidden bool) *scope { return &scope{binder: s.binder, outer: s, hidden: hidden} }

// depth is how many levels s stands outside of from. What is between them depends on something
// further out.
func (s *scope) depth(from *scope) (depth int) {
	for f := from; f != s; f = f.outer {
		f.escapes = true
		depth++
	}
	return depth
}

// referred is the relations that are referred to in do. What is around it does not count them.
func (s *scope) referred(do func()) uint64 {
	saved := s.refs
	s.refs = 0
	do()
	refs := s.refs
	s.refs = saved
	return refs
}

// space finds a relation of FROM by its name, or nil.
func (f *scope) space(parts []string) *space {
	for _, sp := range f.spaces {
		if sp.alias == parts[len(parts)-1] && (len(parts) == 1 || sp.schema == parts[len(parts)-2]) {
			return sp
		}
	}
	return nil
}

// add makes a relation of FROM: its columns are those of the tuples it will have.
func (s *scope) add(alias, schema string, cols []datum.Column, fields map[int][]datum.Column, h *Heading) (*space, error) {
	if s.rtes >= maxTables {
		return nil, Fail("54000", "more than %d relations in one FROM", maxTables)
	}
	for _, other := range s.spaces {
		if other.alias == alias && alias != "" && other.schema == schema {
			return nil, Fail("42712", "table name %q specified more than once", clip(alias))
		}
	}
	rte := s.rtes
	s.rtes++
	sp := &space{alias: alias, schema: schema, heading: h, rte: rte}
	for i, c := range cols {
		sp.fields = append(sp.fields, field{name: c.Name, expr: func() *expr {
			s.refs |= 1 << rte
			if s.group != nil && s.group.off == 0 {
				s.group.ungrouped = append(s.group.ungrouped, ungrouped{c.Name, rte, i, h})
			}
			return &expr{typ: c.OID, cols: fields[i], scope: s, rte: rte, attr: i, eval: func(e *env) (datum.Value, error) {
				if t := e.row[rte]; t != nil {
					return t[i], nil
				}
				return nil, nil
			}}
		}})
	}
	sp.whole = func() *expr {
		s.refs |= 1 << rte
		return &expr{typ: oid.Record, cols: cols, eval: func(e *env) (datum.Value, error) {
			if t := e.row[rte]; t != nil {
				return e.run.record(cols, t)
			}
			return nil, nil
		}}
	}
	return sp, nil
}

// resolve finds a column by its name, or by the name of its relation and its own.
func (s *scope) resolve(parts []string, position int32) (*expr, error) {
	hidden := false
	for f := s; f != nil; f = f.outer {
		if !hidden {
			x, err := f.local(parts)
			if err != nil {
				return nil, locate(err, position)
			}
			if x != nil {
				return x.raise(f.depth(s)), nil
			}
		}
		hidden = f.hidden
	}
	if len(parts) > 1 {
		table := parts[len(parts)-2]
		for f := s; f != nil; f = f.outer {
			for _, sp := range f.spaces {
				if sp.alias == table {
					for _, fd := range sp.fields {
						if fd.name == parts[len(parts)-1] {
							return nil, locate(hint(Fail("42P01", "invalid reference to FROM-clause entry for table %q", clip(table)),
								"There is an entry for it, but it cannot be referenced from this part of the query."), position)
						}
					}
					return nil, locate(Fail("42703", "column %s.%s does not exist", clip(table), clip(parts[len(parts)-1])), position)
				}
			}
		}
		return nil, locate(Fail("42P01", "missing FROM-clause entry for table %q", clip(table)), position)
	}
	return nil, locate(Fail("42703", "column %q does not exist", clip(parts[0])), position)
}

// local is resolve in one scope. It returns nil where there is no such column.
func (f *scope) local(parts []string) (*expr, error) {
	name := parts[len(parts)-1]
	ambiguous := func() error { return Fail("42702", "column reference %q is ambiguous", clip(name)) }
	if len(parts) == 1 {
		found, several := named(f.stars, name)
		if several {
			return nil, ambiguous()
		}
		if found != nil {
			return found.expr(), nil
		}
		// System columns, then whole rows.
		var system *expr
		for _, sp := range f.spaces {
			if x := f.systemColumn(sp, name); x != nil {
				if system != nil {
					return nil, ambiguous()
				}
				system = x
			}
		}
		if system != nil {
			return system, nil
		}
		for _, sp := range f.spaces {
			if sp.alias == name && sp.whole != nil {
				return sp.whole(), nil
			}
		}
		return nil, nil
	}
	sp := f.space(parts[:len(parts)-1])
	if sp == nil {
		return nil, nil
	}
	found, several := named(sp.fields, name)
	if several {
		return nil, ambiguous()
	}
	if found != nil {
		return found.expr(), nil
	}
	return f.systemColumn(sp, name), nil
}

// systemColumns are the types of the columns that every relation has.
var systemColumns = map[string]uint32{"tableoid": oid.Oid, "xmin": oid.Xid}

// systemColumn is such a column of a relation in FROM, or nil.
func (f *scope) systemColumn(sp *space, name string) *expr {
	t := systemColumns[name]
	if sp.heading == nil || t == 0 {
		return nil
	}
	f.refs |= 1 << sp.rte
	value := datum.Int(1)
	if name == "tableoid" {
		value = datum.Int(sp.heading.OID)
	}
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		if e.row[sp.rte] == nil {
			return nil, nil
		}
		return value, nil
	}}
}

func (b exprBinder) columnRef(c *pg.ColumnRef) (*expr, error) {
	if n := len(c.Fields); n > 1 && c.Fields[n-1].GetAStar() != nil {
		if x := b.wholeRow(nameParts(c.Fields[:n-1])); x != nil {
			return x, nil
		}
	}
	for _, f := range c.Fields {
		if f.GetString_() == nil {
			return nil, locate(Fail("42601", "* is not allowed here"), c.Location)
		}
	}
	parts := nameParts(c.Fields)
	if len(parts) == 4 || len(parts) == 3 && parts[0] == b.types.run.db.Name() && oid.Schema(parts[1]) != 0 {
		parts = parts[1:]
	}
	if len(parts) > 3 {
		return nil, locate(Fail("42601", "improper qualified name"), c.Location)
	}
	return b.scope.resolve(parts, c.Location)
}

// wholeRow is the row of a relation, as in count(t.*), or nil where there is none of the name.
func (b exprBinder) wholeRow(parts []string) *expr {
	hidden := false
	for f := b.scope; f != nil; f = f.outer {
		if sp := f.space(parts); sp != nil && sp.whole != nil && !hidden {
			return sp.whole().raise(f.depth(b.scope))
		}
		hidden = f.hidden
	}
	return nil
}

func nameParts(list []*pg.Node) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}

// quoteLiteral writes a text as quote_literal does.
func quoteLiteral(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}

func clip(s string) string { return datum.Truncate(s, 100) }
