package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// binder turns a parsed SELECT into something that runs. Types are decided here, once.
type binder struct {
	r       *run
	library Library
	params  []uint32
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
	b     *binder
	outer *scope
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

	aggs  []*aggregate
	wins  []*window
	srfs  []*binding
	aggOK bool
	winOK bool
	srfOK bool
	where string // for messages
	// group is set while what may be grouped is read.
	group *grouping
}

// child is the scope of a SELECT inside of this one.
func (s *scope) child(hidden bool) *scope { return &scope{b: s.b, outer: s, hidden: hidden} }

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
