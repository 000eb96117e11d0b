package interpret

import (
	"context"
	"errors"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
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
	parsed, err := grammar.Parse(sql, textLimits)
	if err != nil {
		return nil, unreadable(sql, err)
	}
	if n := len(parsed.Statements); n != 1 {
		return nil, Fail("42601", "one statement is expected, but there are %d", n)
	}
	s := parsed.Statements[0].Stmt.GetSelectStmt()
	if s == nil {
		return nil, Fail("0A000", "only SELECT can be used here")
	}
	return s, nil
}

// Prepare decides the types of a parsed SELECT. known are the types of parameters that the client
// has given; 0 is unknown. The tree is one that Parse has read, or that was held to the same
// limits: the interpreter recurses as deep as it is nested.
func (l Library) Prepare(ctx context.Context, db Database, tree *pg.SelectStmt, known []uint32, limits Limits) (st *Statement, err error) {
	defer rescue(&err)
	st = &Statement{run: &run{db: db, ctx: ctx, limits: limits}}
	b := &binder{run: st.run, library: l, types: &typeBinder{run: st.run, params: append([]uint32(nil), known...)}}
	if st.query, err = b.bindSelect(tree, &scope{binder: b}); err != nil {
		var e *Error
		if !errors.As(err, &e) {
			err = Fail("XX000", "internal error in the catalogue")
		}
		return nil, err
	}
	st.query.settle()
	for i, t := range b.types.params {
		if t == 0 || t == oid.Unknown {
			b.types.params[i] = oid.Text
		}
	}
	st.Parameters, st.Columns = b.types.params, st.query.columns()
	return st, nil
}

// Run runs a statement. What shows as a name, a time or a record is a text in the rows that it
// returns.
func (st *Statement) Run(parameters []datum.Value) (rows []datum.Tuple, err error) {
	defer rescue(&err)
	if len(st.Parameters) > len(parameters) {
		return nil, Fail("08P01", "the query has %d parameters, but %d were sent", len(st.Parameters), len(parameters))
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
	case datum.Float:
		if t != oid.Float4 {
			return v, nil
		}
	case datum.Time, datum.Numeric, *datum.Record:
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

// Database is what queries are asked of.
type Database interface {
	// Name is what a name of three parts may begin with.
	Name() string
	// Relation finds a relation by its name, along the search path where no schema is given. It is
	// nil where there is none.
	Relation(schema, name string) Relation
	// Types are the types of the rows of its tables.
	Types() oid.Types
	// ParseName reads a name as regclass and its kin do, and FormatName writes one.
	ParseName(text string, t uint32) (uint32, error)
	FormatName(object, t uint32) string
}

// Relation is a table or a view that can be named in FROM.
type Relation interface {
	Heading() Heading
	// Rows are all rows, and Find those whose column has a value, by its datum.Key.
	Rows() []datum.Tuple
	Find(column int, key []byte) []datum.Tuple
}

// Heading is what is known about a relation before it is read.
type Heading struct {
	OID      uint32
	Schema   string
	Columns  []datum.Column
	Key      int  // the column that determines a row, or -1
	Readable bool // others can be named and have no rows here
}

// VisitRelations visits every relation that a SELECT names, with the names of the WITH queries
// around it.
func VisitRelations(s *pg.SelectStmt, visit func(*pg.RangeVar, map[string]bool)) {
	var message func(m protoreflect.Message, ctes map[string]bool)
	message = func(m protoreflect.Message, ctes map[string]bool) {
		switch v := m.Interface().(type) {
		case *pg.RangeVar:
			visit(v, ctes)
			return
		case *pg.SelectStmt:
			if v.WithClause != nil {
				inner := map[string]bool{}
				for name := range ctes {
					inner[name] = true
				}
				for _, n := range v.WithClause.Ctes {
					if e := n.GetCommonTableExpr(); e != nil {
						inner[e.Ctename] = true
					}
				}
				ctes = inner
			}
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.IsList() && f.Message() != nil:
				for i := range v.List().Len() {
					message(v.List().Get(i).Message(), ctes)
				}
			case f.Message() != nil && !f.IsMap():
				message(v.Message(), ctes)
			}
			return true
		})
	}
	message(s.ProtoReflect(), nil)
}
