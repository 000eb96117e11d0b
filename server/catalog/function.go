package catalog

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// function is one form of a function that may be called. The list of them is all there is.
type function struct {
	name     string
	args     []uint32 // 0 stands for any type
	variadic bool     // the last one may come any number of times
	lax      bool     // it sees NULLs; others are NULL where an argument is
	ret      uint32
	like     int // 1 + the argument whose type it returns, where ret is 0
	do       func(r *run, a []any, ts []uint32) (any, error)
	// of one that returns a set
	set  func(r *run, a []any, ts []uint32) ([]any, error)
	cols []Column
}

var functions = map[string][]*function{}

// define adds a function: its name, the types of its arguments, and what it returns.
func define(signature string, do func(r *run, a []any, ts []uint32) (any, error)) *function {
	name, rest, _ := strings.Cut(signature, "(")
	args, ret, _ := strings.Cut(rest, ")")
	f := &function{name: name, do: do}
	for a := range strings.SplitSeq(args, ",") {
		a = strings.TrimSpace(a)
		if a == "" {
			continue
		}
		if v, ok := strings.CutPrefix(a, "..."); ok {
			f.variadic, a = true, v
		}
		f.args = append(f.args, signatureType(a))
	}
	ret = strings.TrimSpace(ret)
	if n, ok := strings.CutPrefix(ret, "$"); ok {
		f.like = int(n[0] - '0')
	} else {
		f.ret = signatureType(ret)
	}
	functions[name] = append(functions[name], f)
	return f
}

func signatureType(name string) uint32 {
	if name == "any" {
		return 0
	}
	if inner, ok := strings.CutSuffix(name, "[]"); ok {
		return arrayOf(signatureType(inner))
	}
	if name == "anyarray" {
		return tAnyArray
	}
	t := typeByName[name]
	if t == 0 {
		panic("catalog: no type " + name) // while the program starts, for a name in this package
	}
	return t
}

// defineSet adds a function that returns a set: of values, or of records with these columns.
func defineSet(signature string, cols []Column, set func(r *run, a []any, ts []uint32) ([]any, error)) *function {
	f := define(signature, nil)
	f.set, f.cols = set, cols
	return f
}

// schemaOfFunction says where a function is, besides pg_catalog.
var inInformationSchema = map[string]bool{"_pg_expandarray": true, "_pg_char_max_length": true, "_pg_numeric_precision": true, "_pg_numeric_scale": true, "_pg_datetime_precision": true,
	"_pg_truetypid": true, "_pg_truetypmod": true, "_pg_numeric_precision_radix": true, "_pg_char_octet_length": true, "_pg_index_position": true}

// choose finds the form of a function that fits the arguments best.
func (s *scope) choose(names []string, args []*expr) (*function, error) {
	name := names[len(names)-1]
	list := functions[name]
	if len(names) > 1 {
		schema := names[len(names)-2]
		if schema != "pg_catalog" && !(schema == "information_schema" && inInformationSchema[name]) {
			list = nil
		}
	} else if inInformationSchema[name] {
		list = nil
	}
	var best *function
	bestScore := -1
	for _, f := range list {
		n := len(f.args)
		if !(len(args) == n || f.variadic && len(args) >= n-1) {
			continue
		}
		score := 0
		ok := true
		for i, x := range args {
			want := f.args[min(i, n-1)]
			switch {
			case want == 0:
				score++
			case want == tAnyArray && elem(x.typ) != 0:
				score += 2
			case want == tAnyArray && !x.untyped():
				ok = false
			case x.untyped():
				// A literal is a text before it is anything else.
				if score++; isString(want) {
					score++
				}
				if want == tText {
					score++
				}
			default:
				got := implicit(x.typ, want)
				if got == 0 {
					ok = false
				}
				score += got
			}
		}
		if ok && score > bestScore {
			best, bestScore = f, score
		}
	}
	if best != nil {
		return best, nil
	}
	var ts []string
	for _, x := range args {
		ts = append(ts, s.b.c.formatType(x.typ, -1))
	}
	err := fail("42883", "function %s(%s) does not exist", clip(strings.Join(names, ".")), strings.Join(ts, ", "))
	if len(list) > 0 {
		return nil, hint(err, "No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	return nil, hint(err, "Queries about the catalogue can call the functions that clients use to read it, and no others.")
}

// bound is a call with its arguments in their types.
func (s *scope) arguments(f *function, args []*expr) ([]*expr, []uint32, error) {
	out := make([]*expr, len(args))
	ts := make([]uint32, len(args))
	for i, x := range args {
		want := f.args[min(i, len(f.args)-1)]
		var err error
		switch {
		case want == 0 || want == tAnyArray:
			if x.untyped() {
				t := uint32(tText)
				if want == tAnyArray {
					t = tTextArray
				}
				x, err = s.b.coerce(x, t)
			}
		default:
			x, err = s.b.coerce(x, want)
		}
		if err != nil {
			return nil, nil, err
		}
		out[i], ts[i] = x, x.typ
	}
	return out, ts, nil
}

func (f *function) returns(args []*expr) uint32 {
	if f.like > 0 {
		if f.like > len(args) {
			return tText
		}
		return args[f.like-1].typ
	}
	return f.ret
}

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
	strict := !f.lax
	return &expr{typ: t, eval: func(e *env) (any, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		vals := make([]any, len(args))
		for i, a := range args {
			v, err := a.eval(e)
			if err != nil {
				return nil, err
			}
			if v == nil && strict {
				return nil, nil
			}
			vals[i] = v
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
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		vals := make([]any, len(args))
		for i, a := range args {
			v, err := a.eval(e)
			if err != nil {
				return nil, err
			}
			if v == nil && !f.lax {
				return nil, nil
			}
			vals[i] = v
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
		return &setCall{typ: x.typ, eval: func(e *env) ([]any, error) {
			v, err := x.eval(e)
			return []any{v}, err
		}}, name, nil
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
	return &setCall{typ: x.typ, cols: x.cols, record: x.typ == tRecord && x.cols != nil, eval: func(e *env) ([]any, error) {
		v, err := x.eval(e)
		return []any{v}, err
	}}, name, nil
}
