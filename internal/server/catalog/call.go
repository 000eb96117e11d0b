package catalog

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// call binds a call of any function.
func (s *scope) call(c *pg.FuncCall) (*expr, error) {
	names := nameOf(c.Funcname)
	if len(names) == 0 {
		return nil, unsupported("this call")
	}
	name := names[len(names)-1]
	system := len(names) == 1 || names[0] == "pg_catalog"
	if system && aggregateNames[name] {
		return s.aggregateCall(name, c)
	}
	if c.Over != nil {
		if !system || !windowNames[name] || len(c.Args) > 0 {
			return nil, hint(fail("42883", "window function %s does not exist", clip(name)), "There are row_number, rank, dense_rank and the aggregates.")
		}
		if !s.winOK {
			return nil, fail("42P20", "window functions are not allowed in %s", s.where)
		}
		return s.windowCall(name, c, nil)
	}
	if c.AggStar || c.AggDistinct || len(c.AggOrder) > 0 || c.AggFilter != nil {
		return nil, fail("42809", "%s is not an aggregate function", clip(name))
	}
	if c.FuncVariadic {
		return nil, unsupported("VARIADIC")
	}
	args, err := s.exprs(c.Args)
	if err != nil {
		return nil, err
	}
	// A type's name can be called to cast: text(x), int4(x), regclass(x).
	if len(functions[name]) == 0 && len(args) == 1 && system {
		if t := typeByName[name]; t != 0 {
			return s.b.cast(args[0], t)
		}
	}
	f, err := s.choose(names, args)
	if err != nil {
		return nil, err
	}
	args, ts, err := s.arguments(f, args)
	if err != nil {
		return nil, err
	}
	if f.set != nil {
		if !s.srfOK {
			return nil, fail("0A000", "set-returning functions are not allowed in %s", s.where)
		}
		set := bindSet(f, args, ts)
		i := len(s.srfs)
		s.srfs = append(s.srfs, set)
		return &expr{typ: set.typ, cols: set.cols, eval: func(e *env) (any, error) {
			if i < len(e.srfs) {
				return e.srfs[i], nil
			}
			return nil, nil
		}}, nil
	}
	t := f.returns(args)
	return &expr{typ: t, eval: func(e *env) (any, error) {
		vals, ok, err := f.values(e, args)
		if err != nil || !ok {
			return nil, err
		}
		return f.do(e.run, vals, ts)
	}}, nil
}

// setCall is a call of a function that returns a set.
type setCall struct {
	typ    uint32
	record bool
	cols   []Column
	eval   func(*env) ([]any, error)
}

// single is the set of one value.
func single(x *expr) *setCall {
	return &setCall{typ: x.typ, eval: func(e *env) ([]any, error) {
		v, err := x.eval(e)
		return []any{v}, err
	}}
}

// bindSet makes the call of a function that returns a set.
func bindSet(f *function, args []*expr, ts []uint32) *setCall {
	c := &setCall{typ: f.returns(args), cols: f.cols, record: f.cols != nil}
	if f.name == "unnest" {
		c.typ = elem(args[0].typ)
	}
	if f.name == "_pg_expandarray" {
		c.cols = []Column{{"x", elem(args[0].typ)}, {"n", tInt4}}
	}
	if c.record {
		c.typ = tRecord
	}
	cols := c.cols
	c.eval = func(e *env) ([]any, error) {
		vals, ok, err := f.values(e, args)
		if err != nil || !ok {
			return nil, err
		}
		out, err := f.set(e.run, vals, ts)
		if err != nil {
			return nil, err
		}
		for i, v := range out {
			if t, ok := v.(tuple); ok {
				rec, err := e.run.record(cols, t)
				if err != nil {
					return nil, err
				}
				out[i] = rec
			}
		}
		if err := e.run.take(64 * len(out)); err != nil {
			return nil, err
		}
		return out, e.run.step(len(out))
	}
	return c
}

// setCall binds a function in FROM. One that returns a single value is a set of one.
func (s *scope) setCall(n *pg.Node) (*setCall, string, error) {
	c := n.GetFuncCall()
	if c == nil {
		// current_user and the like
		x, err := s.expr(n)
		if err != nil {
			return nil, "", err
		}
		name, _ := figure(n)
		return single(x), name, nil
	}
	names := nameOf(c.Funcname)
	name := names[len(names)-1]
	s.where = "functions in FROM"
	if f := functions[name]; len(f) > 0 && f[0].set != nil && c.Over == nil && !c.FuncVariadic {
		args, err := s.exprs(c.Args)
		if err != nil {
			return nil, "", err
		}
		fn, err := s.choose(names, args)
		if err != nil {
			return nil, "", at(err, c.Location)
		}
		args, ts, err := s.arguments(fn, args)
		if err != nil {
			return nil, "", at(err, c.Location)
		}
		return bindSet(fn, args, ts), name, nil
	}
	x, err := s.expr(n)
	if err != nil {
		return nil, "", err
	}
	one := single(x)
	one.cols, one.record = x.cols, x.typ == tRecord && x.cols != nil
	return one, name, nil
}
