package interpret

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// Call is a call of a function while it runs.
type Call struct {
	Args  []datum.Value
	Types []uint32
	run   *run
}

// Database is what the query is asked of.
func (c *Call) Database() Database { return c.run.db }

// Text, Int and List are arguments of these kinds, and empty where they are NULL.
func (c *Call) Text(i int) string {
	s, _ := c.Args[i].(datum.Text)
	return string(s)
}

// Int is an argument that is a whole number.
func (c *Call) Int(i int) int64 {
	n, _ := c.Args[i].(datum.Int)
	return int64(n)
}

// List is an argument that is an array.
func (c *Call) List(i int) datum.List {
	l, _ := c.Args[i].(datum.List)
	return l
}

// NewText makes a text, and counts it.
func (c *Call) NewText(s string) (datum.Value, error) { return c.run.text(s) }

// binding is a call of a form, bound.
type binding struct {
	*form
	args  []*expr
	types []uint32
	typ   uint32
	cols  []datum.Column
}

// bindCall binds a call of the form that fits best.
func (b *binder) bindCall(names []string, args []*expr) (*binding, error) {
	f, err := b.choose(names, args)
	if err != nil {
		return nil, err
	}
	args, ts, err := b.arguments(f, args)
	if err != nil {
		return nil, err
	}
	c := &binding{form: f, args: args, types: ts, typ: f.typeOf(f.result, ts)}
	for _, col := range f.cols {
		c.cols = append(c.cols, datum.Column{Name: col.Name, OID: f.typeOf(col.OID, ts)})
	}
	return c, nil
}

// eval calls a function. The result is NULL where an argument is and the function does not see
// NULLs.
func (c *binding) eval(e *env) (datum.Value, error) {
	if err := e.run.step(1); err != nil {
		return nil, err
	}
	vals := make([]datum.Value, len(c.args))
	for i, a := range c.args {
		v, err := a.eval(e)
		if err != nil || v == nil && !c.lax {
			return nil, err
		}
		vals[i] = v
	}
	return c.do(&Call{run: e.run, Args: vals, Types: c.types})
}

// evalSet calls a function that returns a set.
func (c *binding) evalSet(e *env) ([]datum.Value, error) {
	v, err := c.eval(e)
	if err != nil {
		return nil, err
	}
	out, _ := v.(datum.List)
	if c.cols != nil {
		rows := out
		out = make(datum.List, len(rows))
		for i, row := range rows {
			if out[i], err = e.run.record(c.cols, row.(datum.List)); err != nil {
				return nil, err
			}
		}
	}
	return out, e.run.spend(len(out), 64*len(out))
}

// call binds a call of any function.
func (s *scope) call(c *pg.FuncCall) (*expr, error) {
	names := nameParts(c.Funcname)
	if len(names) == 0 {
		return nil, unsupported("this call")
	}
	name := names[len(names)-1]
	system := len(names) == 1 || names[0] == "pg_catalog"
	switch {
	case c.Over != nil:
		return s.windowCall(strings.Join(names, "."), c)
	case system && aggregates[name] != nil:
		return s.aggregateCall(name, c)
	case c.AggStar || c.AggDistinct || len(c.AggOrder) > 0 || c.AggFilter != nil:
		return nil, Fail("42809", "%s is not an aggregate function", clip(name))
	case c.FuncVariadic:
		return nil, unsupported("VARIADIC")
	}
	args, err := s.exprs(c.Args)
	if err != nil {
		return nil, err
	}
	// A type's name can be called to cast: text(x), int4(x), regclass(x).
	if t := oid.Named(name); t != 0 && len(s.b.library[name]) == 0 && len(args) == 1 && system {
		return s.b.cast(args[0], t)
	}
	bound, err := s.b.bindCall(names, args)
	if err != nil {
		return nil, err
	}
	if !bound.set {
		return &expr{typ: bound.typ, eval: bound.eval}, nil
	}
	if !s.srfOK {
		return nil, Fail("0A000", "set-returning functions are not allowed in %s", s.where)
	}
	i := len(s.srfs)
	s.srfs = append(s.srfs, bound)
	return &expr{typ: bound.typ, cols: bound.cols, eval: func(e *env) (datum.Value, error) {
		if i < len(e.srfs) {
			return e.srfs[i], nil
		}
		return nil, nil
	}}, nil
}

// source is a function in FROM: a set of values, or of records where it has columns.
type source struct {
	typ  uint32
	cols []datum.Column
	eval func(*env) ([]datum.Value, error)
}

// fromCall binds a function in FROM, and says what it is called. One that returns a single value is
// a set of one.
func (s *scope) fromCall(n *pg.Node) (*source, string, error) {
	name, _ := outputName(n)
	c := n.GetFuncCall()
	if c != nil {
		s.where = "functions in FROM"
		names := nameParts(c.Funcname)
		if f := s.b.library[name]; len(f) > 0 && f[0].set && c.Over == nil && !c.FuncVariadic {
			args, err := s.exprs(c.Args)
			if err != nil {
				return nil, "", err
			}
			bound, err := s.b.bindCall(names, args)
			if err != nil {
				return nil, "", locate(err, c.Location)
			}
			return &source{bound.typ, bound.cols, bound.evalSet}, name, nil
		}
	}
	x, err := s.expr(n)
	if err != nil {
		return nil, "", err
	}
	one := &source{typ: x.typ, eval: func(e *env) ([]datum.Value, error) {
		v, err := x.eval(e)
		return []datum.Value{v}, err
	}}
	if c != nil && x.typ == oid.Record {
		one.cols = x.cols
	}
	return one, name, nil
}
