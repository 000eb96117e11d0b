package interpret

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// Function is a line of a library: what can be called, and what it does. A signature is a name, the
// types of the arguments and the type of the result, as in
//
//	lower(text) text
//	lax concat_ws(text,...any) text
//	substring|substr(text,int4,int4=) text
//	unnest(anyarray) setof anyelement
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
		jsonFunctions, timeFunctions) {
		for _, x := range forms(f) {
			l[x.name] = append(l[x.name], x)
		}
	}
	return l
}

// form is one form of a function.
type form struct {
	name     string
	args     []uint32 // 0 stands for any type
	variadic bool
	lax      bool
	set      bool
	result   uint32
	cols     []datum.Column // of a set of records
	do       func(*Call) (datum.Value, error)
}

// forms are all forms of a function.
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
