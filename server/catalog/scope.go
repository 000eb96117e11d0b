package catalog

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// binder turns a parsed SELECT into something that runs. Types are decided here, once.
type binder struct {
	c       *Catalog
	r       *run
	params  []uint32
	queries int
}

// env is a SELECT while it runs.
type env struct {
	run   *run
	outer *env
	row   []tuple // by the numbers of the relations in FROM
	aggs  []any
	wins  []any
	srfs  []any
}

// up is the env of the SELECT that stands n levels further out.
func (e *env) up(n int) *env {
	for ; n > 0; n-- {
		e = e.outer
	}
	return e
}

// expr is an expression of a known type.
type expr struct {
	typ  uint32
	cols []Column // the fields, where it is a record of known ones
	eval func(*env) (any, error)

	lit   *string // a literal without a type yet
	null  bool    // NULL without a type yet
	param int     // the number of a parameter without a type yet
	fixed bool    // the same for all rows
	eq    *equation
	// where it is a column of this very SELECT
	scope     *scope
	rte, attr int
}

// equation is l = r, with the relations of this SELECT that each side needs.
type equation struct {
	l, r         *expr
	lrefs, rrefs uint64
}

func (x *expr) untyped() bool { return x.typ == tUnknown }

// field is a column that can be named.
type field struct {
	name string
	expr func() *expr // marks what it refers to
}

// space is a name in FROM with its columns.
type space struct {
	alias  string
	schema string // where the relation was named with one or could be
	fields []field
	whole  func() *expr // the row as a record
	rel    *relation
	rte    int
}

// scope is what a SELECT can name.
type scope struct {
	b     *binder
	outer *scope
	// hidden: columns of the next scope outside cannot be seen, as from a subquery in FROM without LATERAL.
	hidden bool

	spaces []*space
	stars  []field // what * means, and what can be named without a relation
	rtes   int
	refs   uint64 // relations that were referred to since this was last set to 0
	// escapes: something further out was referred to.
	escapes bool

	ctes map[string]*cte

	aggs   []*aggregate
	wins   []*window
	srfs   []*setCall
	aggOK  bool
	winOK  bool
	srfOK  bool
	where  string // for messages
	clause []*pg.Node
	// group is set while what may be grouped is read.
	group *grouping
}

type cte struct {
	name  string
	cols  []Column
	query *query
	scope *scope
	// of a recursive one
	recursive bool
	all       bool
	step      *query
}

func (s *scope) child(hidden bool) *scope { return &scope{b: s.b, outer: s, hidden: hidden} }

// column makes the expression of a column of a relation in this scope, to be evaluated n levels further in.
func (s *scope) at(from *scope) (depth int) {
	for f := from; f != s; f = f.outer {
		f.escapes = true
		depth++
	}
	return depth
}

func (s *scope) findCTE(name string) (*cte, *scope) {
	for f := s; f != nil; f = f.outer {
		if c := f.ctes[name]; c != nil {
			return c, f
		}
	}
	return nil, nil
}

// resolve finds a column by its name, or by the name of its relation and its own.
func (s *scope) resolve(parts []string, position int32) (*expr, error) {
	hidden := false
	for f := s; f != nil; f = f.outer {
		if !hidden {
			x, err := f.local(parts)
			if err != nil {
				return nil, at(err, position)
			}
			if x != nil {
				depth := f.at(s)
				if depth == 0 {
					return x, nil
				}
				inner := x.eval
				return &expr{typ: x.typ, cols: x.cols, eval: func(e *env) (any, error) { return inner(e.up(depth)) }}, nil
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
							return nil, at(hint(fail("42P01", "invalid reference to FROM-clause entry for table %q", clip(table)), "There is an entry for it, but it cannot be referenced from this part of the query."), position)
						}
					}
					return nil, at(fail("42703", "column %s.%s does not exist", clip(table), clip(parts[len(parts)-1])), position)
				}
			}
		}
		return nil, at(fail("42P01", "missing FROM-clause entry for table %q", clip(table)), position)
	}
	return nil, at(fail("42703", "column %q does not exist", clip(parts[0])), position)
}

// local is resolve in one scope. It returns nil where there is no such column.
func (f *scope) local(parts []string) (*expr, error) {
	name := parts[len(parts)-1]
	if len(parts) == 1 {
		var found *field
		for i := range f.stars {
			if f.stars[i].name == name {
				if found != nil {
					return nil, fail("42702", "column reference %q is ambiguous", clip(name))
				}
				found = &f.stars[i]
			}
		}
		if found != nil {
			return found.expr(), nil
		}
		// System columns, then whole rows.
		var system *expr
		for _, sp := range f.spaces {
			if sp.rel != nil && systemColumn(name) != 0 {
				if system != nil {
					return nil, fail("42702", "column reference %q is ambiguous", clip(name))
				}
				system = f.systemColumn(sp, name)
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
	var found *field
	for i := range sp.fields {
		if sp.fields[i].name == name {
			if found != nil {
				return nil, fail("42702", "column reference %q is ambiguous", clip(name))
			}
			found = &sp.fields[i]
		}
	}
	if found != nil {
		return found.expr(), nil
	}
	if sp.rel != nil && systemColumn(name) != 0 {
		return f.systemColumn(sp, name), nil
	}
	return nil, nil
}

func (f *scope) space(parts []string) *space {
	for _, sp := range f.spaces {
		if sp.alias == parts[len(parts)-1] && (len(parts) == 1 || sp.schema == parts[len(parts)-2]) {
			return sp
		}
	}
	return nil
}

// systemColumn is the type of a column that every table has.
func systemColumn(name string) uint32 {
	switch name {
	case "tableoid":
		return tOid
	case "xmin", "xmax":
		return tXid
	case "cmin", "cmax":
		return tCid
	case "ctid":
		return 27
	}
	return 0
}

func (f *scope) systemColumn(sp *space, name string) *expr {
	f.refs |= 1 << sp.rte
	rte, oid := sp.rte, int64(sp.rel.oid)
	return &expr{typ: systemColumn(name), eval: func(e *env) (any, error) {
		if e.row[rte] == nil {
			return nil, nil
		}
		switch name {
		case "tableoid":
			return oid, nil
		case "xmin":
			return int64(1), nil
		case "ctid":
			return "(0,1)", nil
		}
		return int64(0), nil
	}}
}

// add makes a relation of FROM: its columns are those of the tuples it will have.
func (s *scope) add(alias, schema string, cols []Column, fields map[int][]Column, rel *relation) (*space, error) {
	if s.rtes >= maxTables {
		return nil, fail("54000", "more than %d relations in one FROM", maxTables)
	}
	for _, other := range s.spaces {
		if other.alias == alias && alias != "" && other.schema == schema {
			return nil, fail("42712", "table name %q specified more than once", clip(alias))
		}
	}
	rte := s.rtes
	s.rtes++
	sp := &space{alias: alias, schema: schema, rel: rel, rte: rte}
	for i, c := range cols {
		sp.fields = append(sp.fields, field{name: c.Name, expr: func() *expr {
			s.refs |= 1 << rte
			if s.group != nil && s.group.off == 0 {
				s.group.loose = append(s.group.loose, loose{c.Name, rte, i, rel})
			}
			return &expr{typ: c.OID, cols: fields[i], scope: s, rte: rte, attr: i, eval: func(e *env) (any, error) {
				if t := e.row[rte]; t != nil {
					return t[i], nil
				}
				return nil, nil
			}}
		}})
	}
	sp.whole = func() *expr {
		s.refs |= 1 << rte
		return &expr{typ: tRecord, cols: cols, eval: func(e *env) (any, error) {
			if t := e.row[rte]; t != nil {
				return e.run.record(cols, t)
			}
			return nil, nil
		}}
	}
	return sp, nil
}
