package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// query is a SELECT that can run.
type query struct {
	names []string
	outs  []*expr // the columns of a plain SELECT; of others they have a type alone
	exec  func(*env) ([]datum.Tuple, error)
	scope *scope
	// parts are the sides of a set operation or the rows of VALUES, whose columns get one type.
	parts []*query
	lists [][]*expr
}

// run runs a query inside another. Every SELECT has its own env.
func (q *query) run(outer *env) ([]datum.Tuple, error) {
	if err := outer.run.step(1); err != nil {
		return nil, err
	}
	if outer.run.depth++; outer.run.depth > 200 {
		return nil, Fail("54001", "subqueries are nested too deep")
	}
	defer func() { outer.run.depth-- }()
	return q.exec(&env{run: outer.run, outer: outer})
}

// cached is run, once for all where the query depends on nothing outside of it.
func (q *query) cached(outer *env) ([]datum.Tuple, error) {
	if q.scope.escapes {
		return q.run(outer)
	}
	if rows, ok := outer.run.cache[q]; ok {
		return rows, nil
	}
	rows, err := q.run(outer)
	if err != nil {
		return nil, err
	}
	if outer.run.cache == nil {
		outer.run.cache = map[*query][]datum.Tuple{}
	}
	outer.run.cache[q] = rows
	return rows, nil
}

func (q *query) columns() []datum.Column {
	out := make([]datum.Column, len(q.outs))
	for i, x := range q.outs {
		out[i] = datum.Column{Name: q.names[i], OID: x.typ}
	}
	return out
}

// fields are the columns of the columns that are records.
func (q *query) fields() map[int][]datum.Column {
	m := map[int][]datum.Column{}
	for i, x := range q.outs {
		if x.cols != nil {
			m[i] = x.cols
		}
	}
	return m
}

// settle makes text of what still has no type.
func (q *query) settle() {
	for i, x := range q.outs {
		if x.untyped() {
			_ = q.coerce(i, oid.Text) // everything untyped is a text already
		}
	}
}

// coerce changes the type of a column that has none yet, or of one that a UNION needs wider.
func (q *query) coerce(i int, t uint32) error {
	if q.outs[i].typ == t {
		return nil
	}
	b := q.scope.b
	for _, p := range q.parts {
		if err := p.coerce(i, t); err != nil {
			return err
		}
	}
	for _, l := range q.lists {
		x, err := b.coerce(l[i], t)
		if err != nil {
			return err
		}
		l[i] = x
	}
	if q.parts != nil || q.lists != nil {
		q.outs[i] = &expr{typ: t, cols: q.outs[i].cols}
		return nil
	}
	x, err := b.coerce(q.outs[i], t)
	if err != nil {
		return err
	}
	q.outs[i] = x
	return nil
}

func (b *binder) selectStmt(st *pg.SelectStmt, outer *scope) (*query, error) {
	return b.selectIn(st, &scope{b: b, outer: outer})
}

// selectIn binds a SELECT in a new scope.
func (b *binder) selectIn(st *pg.SelectStmt, s *scope) (*query, error) {
	if b.queries++; b.queries > maxQueries {
		return nil, Fail("54000", "the query has more than %d SELECTs", maxQueries)
	}
	if st.IntoClause != nil {
		return nil, unsupported("SELECT INTO")
	}
	if len(st.LockingClause) > 0 {
		return nil, unsupported("FOR UPDATE")
	}
	if st.WithClause != nil {
		if err := s.withClause(st.WithClause); err != nil {
			return nil, err
		}
	}
	switch {
	case st.Op != pg.SetOperation_SETOP_NONE:
		return s.union(st)
	case len(st.ValuesLists) > 0:
		return s.values(st)
	}
	return s.plain(st)
}
