package interpret

import (
	"context"
	"errors"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// Statement is a query whose types are known, and which can run once.
type Statement struct {
	Parameters []uint32 // their types
	Columns    []datum.Column
	query      *query
	run        *run
}

// Parse reads one SELECT, within the limits on texts.
func Parse(sql string) (*pg.SelectStmt, error) {
	if err := checkText(sql); err != nil {
		return nil, err
	}
	tree, err := pg.Parse(sql)
	if err != nil {
		return nil, syntaxError(sql, err)
	}
	if len(tree.Stmts) != 1 {
		return nil, Fail("42601", "one statement is expected, and there are %d", len(tree.Stmts))
	}
	s := tree.Stmts[0].Stmt.GetSelectStmt()
	if s == nil {
		return nil, Fail("0A000", "only SELECT is answered here")
	}
	return s, nil
}

// Prepare decides the types of a parsed SELECT. known are the types of parameters that the client
// has given; 0 is unknown. The tree is one that Parse has read, or that was held to the same
// limits: the interpreter recurses as deep as it is nested.
func (l Library) Prepare(ctx context.Context, db Database, tree *pg.SelectStmt, known []uint32, limits Limits) (st *Statement, err error) {
	defer rescue(&err)
	st = &Statement{run: &run{db: db, ctx: ctx, limits: limits}}
	b := &binder{r: st.run, library: l, params: append([]uint32(nil), known...)}
	if st.query, err = b.selectStmt(tree, nil); err != nil {
		var e *Error
		if !errors.As(err, &e) {
			err = Fail("XX000", "internal error in the catalogue")
		}
		return nil, err
	}
	st.query.settle()
	for i, t := range b.params {
		if t == 0 || t == oid.Unknown {
			b.params[i] = oid.Text
		}
	}
	st.Parameters, st.Columns = b.params, st.query.columns()
	return st, nil
}

// Run runs a statement. What shows as a name, a time or a record is a text in the rows that it
// returns.
func (st *Statement) Run(parameters []datum.Value) (rows []datum.Tuple, err error) {
	defer rescue(&err)
	if len(st.Parameters) > len(parameters) {
		return nil, Fail("08P01", "the query has %d parameters, and %d were sent", len(st.Parameters), len(parameters))
	}
	st.run.params = parameters
	if rows, err = st.query.run(&env{run: st.run}); err != nil {
		return nil, err
	}
	if len(rows) > maxRows {
		return nil, Fail("54000", "the result has more than %d rows", maxRows)
	}
	out := make([]datum.Tuple, len(rows))
	total := 0
	for i, t := range rows {
		out[i] = make(datum.Tuple, len(st.Columns))
		for j, c := range st.Columns {
			if total += datum.Size(t[j]); total > maxResult {
				return nil, Fail("54000", "the result is larger than %d bytes", maxResult)
			}
			if out[i][j], err = st.run.shown(t[j], c.OID); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// shown is a value as a result has it.
func (r *run) shown(v datum.Value, t uint32) (datum.Value, error) {
	switch x := v.(type) {
	case datum.Int:
		if !oid.IsReg(t) {
			return v, nil
		}
	case datum.Time, *datum.Record:
	case datum.List:
		if oid.IsVector(t) {
			break
		}
		out := make(datum.List, len(x))
		for i, y := range x {
			var err error
			if out[i], err = r.shown(y, oid.Elem(t)); err != nil {
				return nil, err
			}
		}
		return out, nil
	default:
		return v, nil
	}
	s, err := r.format(v, t)
	return datum.Text(s), err
}
