package interpret

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// choose finds the form of a function that fits the arguments best.
func (b *binder) choose(names []string, args []*expr) (*form, error) {
	list := b.callable(names)
	var best *form
	bestScore := -1
	for _, f := range list {
		if score := f.fit(args); score > bestScore {
			best, bestScore = f, score
		}
	}
	if best != nil {
		return best, nil
	}
	err := b.noFunction(strings.Join(names, "."), args)
	if len(list) > 0 {
		return nil, hint(err, "No function matches the given name and argument types. You might need to add explicit type casts.")
	}
	return nil, hint(err, "Queries about the catalogue can call the functions that clients use to read it, and no others.")
}

// callable are the forms of a function of this name and schema.
func (b *binder) callable(names []string) []*form {
	name, schema := names[len(names)-1], ""
	if len(names) > 1 {
		schema = names[len(names)-2]
	}
	information := strings.HasPrefix(name, "_pg_")
	if schema == "pg_catalog" || schema == "" && !information || schema == "information_schema" && information {
		return b.library[name]
	}
	return nil
}

// noFunction says that a function does not take these types.
func (b *binder) noFunction(name string, args []*expr) error {
	var ts []string
	for _, x := range args {
		ts = append(ts, b.r.nameType(x.typ))
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
			score++
		case want == oid.AnyArray && oid.Elem(x.typ) != 0:
			score += 2
		case want == oid.AnyArray && !x.untyped():
			return -1
		case x.untyped():
			// A literal is a text before it is anything else.
			if score++; oid.IsString(want) {
				score++
			}
			if want == oid.Text {
				score++
			}
		default:
			got := implicit(x.typ, want)
			if got == 0 {
				return -1
			}
			score += got
		}
	}
	return score
}

// arguments brings the arguments of a call to the types that the function takes.
func (b *binder) arguments(f *form, args []*expr) ([]*expr, []uint32, error) {
	out := make([]*expr, len(args))
	ts := make([]uint32, len(args))
	for i, x := range args {
		want := f.args[min(i, len(f.args)-1)]
		switch {
		case want == 0 && x.untyped():
			want = oid.Text
		case want == oid.AnyArray && x.untyped():
			want = oid.TextArray
		case want == 0 || want == oid.AnyArray:
			want = x.typ
		}
		x, err := b.coerce(x, want)
		if err != nil {
			return nil, nil, err
		}
		out[i], ts[i] = x, x.typ
	}
	return out, ts, nil
}
