package interpret

import (
	"slices"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// Call is a call of a function while it runs.
type Call struct {
	Name  string // of the function
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

func (c *Call) NewText(s string) (datum.Value, error) { return c.run.text(s) }

// binding is a call of a form, bound.
type binding struct {
	*form
	args  []*expr
	types []uint32
	typ   uint32
	cols  []datum.Column
}

type functionBinder struct {
	library Library
	types   *typeBinder
}

// bindCall binds a call of the form that fits best.
func (b functionBinder) bindCall(names []string, args []*expr) (*binding, error) {
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
		if err := e.run.step(weigh(v)); err != nil {
			return nil, err
		}
	}
	return c.do(&Call{Name: c.name, run: e.run, Args: vals, Types: c.types})
}

// weigh is how many steps it takes a function to read an argument: all of a text, or of an array.
func weigh(v datum.Value) int {
	switch v := v.(type) {
	case datum.Text:
		return len(v) / 32
	case datum.List:
		return len(v) / 16
	}
	return 0
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

// callBinder binds calls, of aggregates and windows too, which the scope notes.
type callBinder struct {
	scope *scope
	exprs exprBinder
}

func (b callBinder) call(c *pg.FuncCall) (*expr, error) {
	names := nameParts(c.Funcname)
	if len(names) == 0 {
		return nil, unsupported("this call")
	}
	name := names[len(names)-1]
	system := len(names) == 1 || names[0] == "pg_catalog"
	switch {
	case c.Over != nil:
		return b.windowCall(strings.Join(names, "."), c)
	case system && aggregates[name] != nil:
		return b.aggregateCall(name, c)
	case system && isAggregate(name):
		args, err := b.exprs.exprs(c.Args)
		if err == nil {
			err = refusedAggregate(name, args)
		}
		if err == nil {
			err = b.exprs.functions.noFunction(name, args)
		}
		return nil, err
	case c.AggStar || c.AggDistinct || len(c.AggOrder) > 0 || c.AggFilter != nil:
		return nil, Fail("42809", "%s is not an aggregate function", clip(name))
	case c.FuncVariadic:
		return nil, unsupported("VARIADIC")
	}
	args, err := b.exprs.exprs(c.Args)
	if err != nil {
		return nil, err
	}
	// A type's name can be called to cast: text(x), int4(x), regclass(x).
	if t := oid.Named(name); t != 0 && len(b.exprs.functions.library[name]) == 0 && len(args) == 1 && system {
		return b.exprs.types.cast(args[0], t)
	}
	bound, err := b.exprs.functions.bindCall(names, args)
	if err != nil {
		return nil, err
	}
	if !bound.set {
		return &expr{typ: bound.typ, eval: bound.eval}, nil
	}
	if !b.scope.allowed.sets {
		return nil, Fail("0A000", "set-returning functions are not allowed in %s", b.scope.allowed.clause)
	}
	i := len(b.scope.srfs)
	b.scope.srfs = append(b.scope.srfs, bound)
	return &expr{typ: bound.typ, cols: bound.cols, eval: func(e *env) (datum.Value, error) {
		if i < len(e.srfs) {
			return e.srfs[i], nil
		}
		return nil, nil
	}}, nil
}

// tableFunction is a function in FROM: a set of values, or of records where it has columns.
type tableFunction struct {
	typ    uint32
	cols   []datum.Column
	column string // where the single column has a name of its own
	eval   func(*env) ([]datum.Value, error)
}

// fromCall binds a function in FROM, and says what it is called. One that returns a single value is
// a set of one.
func (b callBinder) fromCall(n *pg.Node) (*tableFunction, string, error) {
	name, _ := outputName(n)
	c := n.GetFuncCall()
	if c != nil {
		b.scope.allowed.clause = "functions in FROM"
		names := nameParts(c.Funcname)
		if f := b.exprs.functions.library[name]; len(f) > 0 && f[0].set && c.Over == nil && !c.FuncVariadic {
			args, err := b.exprs.exprs(c.Args)
			if err != nil {
				return nil, "", err
			}
			bound, err := b.exprs.functions.bindCall(names, args)
			if err != nil {
				return nil, "", locate(err, c.Location)
			}
			return &tableFunction{bound.typ, bound.cols, bound.column, bound.evalSet}, name, nil
		}
	}
	x, err := b.exprs.expr(n)
	if err != nil {
		return nil, "", err
	}
	one := &tableFunction{typ: x.typ, eval: func(e *env) ([]datum.Value, error) {
		v, err := x.eval(e)
		return []datum.Value{v}, err
	}}
	if c != nil && x.typ == oid.Record {
		one.cols = x.cols
	}
	return one, name, nil
}

// choose finds the form of a function that fits the arguments best.
func (b functionBinder) choose(names []string, args []*expr) (*form, error) {
	var best *form
	bestScore := -1
	for _, f := range b.callable(names) {
		if score := f.fit(args); score > bestScore {
			best, bestScore = f, score
		}
	}
	if b.reachable(names) {
		// A form that fits better counts, even where it is not answered: its result is another.
		f, score := fitting(names[len(names)-1], args)
		if score > bestScore {
			return b.listedCall(f)
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, hint(b.noFunction(strings.Join(names, "."), args),
		"No function matches the given name and argument types. You might need to add explicit type casts.")
}

// reachable reports whether a name says a function of PostgreSQL's: one of pg_catalog, or with its
// schema one of information_schema.
func (b functionBinder) reachable(names []string) bool {
	name, schema := names[len(names)-1], ""
	if len(names) > 1 {
		schema = names[len(names)-2]
	}
	information := strings.HasPrefix(name, "_pg_")
	return !information && (schema == "pg_catalog" || schema == "") || schema == "information_schema" && information
}

// callable are the forms of a function of this name and schema.
func (b functionBinder) callable(names []string) []*form {
	if !b.reachable(names) {
		return nil
	}
	return b.library[names[len(names)-1]]
}

// noFunction says that a function does not take these types.
func (b functionBinder) noFunction(name string, args []*expr) error {
	var ts []string
	for _, x := range args {
		ts = append(ts, b.types.run.nameType(x.typ))
	}
	return Fail("42883", "function %s(%s) does not exist", clip(name), strings.Join(ts, ", "))
}

// fit says how well arguments go into a form: -1 not at all.
func (f *form) fit(args []*expr) int {
	n := len(f.args)
	if !(len(args) == n || f.variadic && len(args) >= n-1) {
		return -1
	}
	score := 0
	for i, x := range args {
		want := f.args[min(i, n-1)]
		switch {
		case want == 0:
			score += 4
		case want == oid.AnyArray && oid.Elem(x.typ) != 0:
			score += 8
		case want == oid.AnyArray && !x.untyped():
			return -1
		case x.untyped():
			// A literal is a text before it is anything else.
			if score += 4; oid.IsString(want) {
				score += 4
			}
			if want == oid.Text {
				score += 4
			}
		default:
			got := implicit(x.typ, want)
			if got == 0 {
				return -1
			}
			// Of two types that are as near, the preferred one of its category is taken.
			if score += 4 * got; x.typ != want && preferred(want) {
				score++
			}
		}
	}
	return score
}

// arguments brings the arguments of a call to the types that the function takes.
func (b functionBinder) arguments(f *form, args []*expr) ([]*expr, []uint32, error) {
	out := make([]*expr, len(args))
	ts := make([]uint32, len(args))
	for i, x := range args {
		want := f.args[min(i, len(f.args)-1)]
		switch {
		case want == 0 && slices.Contains(f.args, oid.AnyArray):
			want = elementType(x, args)
		case want == 0 && x.untyped():
			want = oid.Text
		case want == oid.AnyArray && x.untyped():
			want = oid.TextArray
		case want == 0 || want == oid.AnyArray:
			want = x.typ
		}
		x, err := b.types.coerce(x, want)
		if err != nil {
			return nil, nil, err
		}
		out[i], ts[i] = x, x.typ
	}
	return out, ts, nil
}

// Function is a line of a library: what can be called, and what it does. A signature is a name, the
// types of the arguments and the type of the result, as in
//
//	lower(text) text
//	lax concat_ws(text,...any) text
//	substring|substr(text,int4,int4=) text
//	unnest(anyarray) setof anyelement
//	jsonb_array_elements(jsonb) setof jsonb as value
//	pg_options_to_table(text[]) (option_name text, option_value text)
//
// Names and types with | between them are alternatives, an argument with = may be left out, and one
// with ... may come any number of times. A lax function sees NULLs; others are NULL where an
// argument is. What returns a set returns a List, of Lists where the set has columns.
type Function struct {
	Signature string
	Do        func(*Call) (datum.Value, error)
}

// Library is what can be called, by name. There is nothing else.
type Library map[string][]*form

// NewLibrary makes a library of the functions on values, and of these.
func NewLibrary(own []Function) Library {
	l := Library{}
	for _, f := range slices.Concat(own, textFunctions, partFunctions, patternFunctions, numberFunctions, listFunctions,
		jsonFunctions, timeFunctions, mathFunctions, letterFunctions, arrayFunctions, momentFunctions, documentFunctions,
		decimalFunctions) {
		for _, x := range forms(f) {
			l[x.name] = append(l[x.name], x)
		}
	}
	return l
}

type form struct {
	name     string
	args     []uint32 // 0 stands for any type
	variadic bool
	lax      bool
	set      bool
	result   uint32
	cols     []datum.Column // of a set of records
	column   string         // of a set of values whose column has a name of its own
	do       func(*Call) (datum.Value, error)
}

func forms(f Function) []*form {
	head, lax := strings.CutPrefix(f.Signature, "lax ")
	names, rest, _ := strings.Cut(head, "(")
	args, result, _ := strings.Cut(rest, ") ")
	var out []*form
	for name := range strings.SplitSeq(names, "|") {
		model := form{name: name, lax: lax, do: f.Do}
		model.returns(result)
		shapes := [][]uint32{nil}
		for arg := range strings.SplitSeq(args, ",") {
			arg, optional := strings.CutSuffix(strings.TrimSpace(arg), "=")
			if optional {
				out = append(out, model.shaped(shapes)...)
			}
			arg, model.variadic = strings.CutPrefix(arg, "...")
			var longer [][]uint32
			for _, s := range shapes {
				for t := range strings.SplitSeq(arg, "|") {
					if t != "" {
						longer = append(longer, append(s[:len(s):len(s)], signatureType(t)))
					}
				}
			}
			if longer != nil {
				shapes = longer
			}
		}
		out = append(out, model.shaped(shapes)...)
	}
	return out
}

// shaped are copies of a form with these arguments.
func (f *form) shaped(shapes [][]uint32) []*form {
	var out []*form
	for _, args := range shapes {
		copied := *f
		copied.args = args
		out = append(out, &copied)
	}
	return out
}

// returns reads what a signature says of the result.
func (f *form) returns(text string) {
	if list, ok := strings.CutPrefix(text, "("); ok {
		for col := range strings.SplitSeq(strings.TrimSuffix(list, ")"), ", ") {
			name, t, _ := strings.Cut(col, " ")
			f.cols = append(f.cols, datum.Column{Name: name, OID: signatureType(t)})
		}
		f.set, f.result = true, oid.Record
		return
	}
	text, f.set = strings.CutPrefix(text, "setof ")
	text, f.column, _ = strings.Cut(text, " as ")
	f.result = signatureType(text)
}

// signatureType is a type in a signature: 0 for any.
func signatureType(name string) uint32 {
	if inner, ok := strings.CutSuffix(name, "[]"); ok {
		return oid.ArrayOf(signatureType(inner))
	}
	t := oid.Named(name)
	if t == 0 {
		panic("catalog: no type " + name) // while the program starts, for a name in a library
	}
	if t == oid.Any {
		return 0
	}
	return t
}

// typeOf is a type of the result of a call: that of an array among its arguments, or of its
// elements, where the signature says so.
func (f *form) typeOf(t uint32, types []uint32) uint32 {
	for i, a := range f.args {
		if a == oid.AnyArray && t == oid.AnyArray {
			return types[i]
		}
		if a == oid.AnyArray && t == oid.AnyElement {
			return oid.Elem(types[i])
		}
	}
	return t
}

// now is the time of the query: the same wherever it stands in it.
func (r *run) now() datum.Time {
	if r.time.IsZero() {
		r.time = time.Now().UTC().Truncate(time.Microsecond)
	}
	return datum.Time{Time: r.time}
}

// sessionFunctions are the functions that answer what is called without parentheses.
var sessionFunctions = map[pg.SQLValueFunctionOp]string{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_ROLE: "current_user", pg.SQLValueFunctionOp_SVFOP_CURRENT_USER: "current_user",
	pg.SQLValueFunctionOp_SVFOP_USER: "current_user", pg.SQLValueFunctionOp_SVFOP_SESSION_USER: "current_user",
	pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG: "current_database", pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA: "current_schema",
}

// sessionTimes are the types of the times that are called without parentheses.
var sessionTimes = map[pg.SQLValueFunctionOp]uint32{
	pg.SQLValueFunctionOp_SVFOP_CURRENT_DATE: oid.Date, pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP: oid.Timestamp,
	pg.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N: oid.Timestamp, pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP: oid.Timestamptz,
	pg.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: oid.Timestamptz,
}

// sessionValue binds what is called without parentheses, such as CURRENT_USER.
func (b callBinder) sessionValue(f *pg.SQLValueFunction) (*expr, error) {
	if name := sessionFunctions[f.Op]; name != "" {
		c, err := b.exprs.functions.bindCall([]string{name}, nil)
		if err != nil {
			return nil, err
		}
		return &expr{typ: c.typ, eval: c.eval}, nil
	}
	t := sessionTimes[f.Op]
	if t == 0 {
		return nil, unsupported("the time of day")
	}
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) { return e.run.cast(e.run.now(), oid.Timestamptz, t) }}, nil
}
