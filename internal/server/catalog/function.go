package catalog

import "strings"

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

// functions are all that can be called, by name.
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

// signatureType is a type in a signature: 0 for any.
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

// fixed makes a function that returns the same for all arguments.
func fixed(v any) func(*run, []any, []uint32) (any, error) {
	return func(*run, []any, []uint32) (any, error) { return v, nil }
}

// nothing is a set without rows.
func nothing(*run, []any, []uint32) ([]any, error) { return nil, nil }

// inInformationSchema are the functions that are there, and not in pg_catalog.
var inInformationSchema = map[string]bool{"_pg_expandarray": true, "_pg_char_max_length": true, "_pg_numeric_precision": true, "_pg_numeric_scale": true, "_pg_datetime_precision": true,
	"_pg_truetypid": true, "_pg_truetypmod": true, "_pg_numeric_precision_radix": true}

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

// arguments brings the arguments of a call to the types that the function takes.
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

// values evaluates the arguments of a call. It is not ok where one is NULL and the function does not see NULLs.
func (f *function) values(e *env, args []*expr) (vals []any, ok bool, err error) {
	if err := e.run.step(1); err != nil {
		return nil, false, err
	}
	vals = make([]any, len(args))
	for i, a := range args {
		v, err := a.eval(e)
		if err != nil || v == nil && !f.lax {
			return nil, false, err
		}
		vals[i] = v
	}
	return vals, true, nil
}

// returns is the type of what a call returns.
func (f *function) returns(args []*expr) uint32 {
	if f.like > 0 {
		if f.like > len(args) {
			return tText
		}
		return args[f.like-1].typ
	}
	return f.ret
}
