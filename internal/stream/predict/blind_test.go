package predict

import (
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/stream/histogram"
	"github.com/discreet-dp/discreet/noise"
)

// secrets are the packages whose types have to do with data or noise.
var secrets = []string{"/internal/exact", "/stream/histogram", "/mech", "/noise", "/session", "/engine", "/curator", "/internal/entropy"}

// reach collects all types that can be reached from a type by fields, elements, keys, arguments,
// results and methods.
func reach(t reflect.Type, seen map[reflect.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		reach(t.Elem(), seen)
	case reflect.Map:
		reach(t.Key(), seen)
		reach(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			reach(t.Field(i).Type, seen)
		}
	case reflect.Func:
		for i := range t.NumIn() {
			reach(t.In(i), seen)
		}
		for i := range t.NumOut() {
			reach(t.Out(i), seen)
		}
	}
	for i := range t.NumMethod() {
		reach(t.Method(i).Type, seen)
	}
	// The methods of a pointer are not those of what it points to. Only types with names have any.
	if t.Name() != "" && t.Kind() != reflect.Interface {
		reach(reflect.PointerTo(t), seen)
	}
}

// leaks names the types in reach that a predictor must not know, and the ones that could hide them:
// an interface without methods can hold anything, and so can a function's closure.
func leaks(roots ...reflect.Type) (out []string, all map[reflect.Type]bool) {
	all = map[reflect.Type]bool{}
	for _, r := range roots {
		reach(r, all)
	}
	for t := range all {
		for _, s := range secrets {
			if strings.HasSuffix(t.PkgPath(), s) || strings.Contains(t.PkgPath(), s+"/") {
				out = append(out, t.String())
			}
		}
		if t.Kind() == reflect.Interface && t.NumMethod() == 0 {
			out = append(out, "an interface that can hold anything")
		}
	}
	return out, all
}

// No value that reaches a predictor can hold an exact value or noise: not by an argument, not by a
// field, however deep.
func TestPredictorsAreBlind(t *testing.T) {
	found, all := leaks(reflect.TypeFor[Predictor](), reflect.TypeFor[*weights](), reflect.TypeFor[*ensemble](),
		reflect.TypeFor[*halving]())
	for _, f := range found {
		t.Errorf("a predictor can reach %s", f)
	}
	for _, want := range []string{"predict.Released", "linear.Query", "linear.Domain", "linear.group", "predict.marginal"} {
		ok := false
		for a := range all {
			ok = ok || a.String() == want
		}
		if !ok {
			t.Errorf("%s was not looked at", want)
		}
	}
	// What implements Predictor is what was looked at.
	for _, p := range []Predictor{&weights{}, &ensemble{}, &halving{}} {
		if !all[reflect.TypeOf(p)] {
			t.Errorf("%T was not looked at", p)
		}
	}
}

// TestLeaksAreSeen plants some.
func TestLeaksAreSeen(t *testing.T) {
	type deep struct{ list []map[string]*exact.Vector }
	type taught interface{ Learn(*histogram.Table) }
	type anything struct{ x any }
	for _, planted := range []reflect.Type{
		reflect.TypeOf(deep{list: nil}), reflect.TypeFor[taught](), reflect.TypeOf(anything{x: nil}),
		reflect.TypeFor[func() *noise.Source](),
	} {
		if found, _ := leaks(planted); len(found) == 0 {
			t.Errorf("not seen: %v", planted)
		}
	}
}
