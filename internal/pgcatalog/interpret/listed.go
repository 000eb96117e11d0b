package interpret

import (
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/inventory"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// listedForm is a form that PostgreSQL has of a function, whether it is answered here or not.
type listedForm struct {
	*form
	of *inventory.Function
}

var (
	listedMu  sync.Mutex
	listedAll = map[string][]listedForm{}
)

// wildcards are types that stand for others.
var wildcards = strings.NewReplacer("anycompatiblenonarray", "any", "anycompatiblearray", "anyarray", "anycompatible", "any",
	"anynonarray", "any", "anyelement", "any")

// listed are the forms that PostgreSQL has of a function.
func listed(name string) []listedForm {
	listedMu.Lock()
	defer listedMu.Unlock()
	if out, ok := listedAll[name]; ok {
		return out
	}
	known := inventory.Named(name)
	if known == nil {
		return nil // not kept: anybody can make up names
	}
	var out []listedForm
	for _, f := range known {
		if f.Kind != 'f' || slices.ContainsFunc(append(f.Args, f.Result), unnamed) {
			continue
		}
		for _, shape := range forms(Function{Signature: f.Name + "(" + wildcards.Replace(strings.Join(f.Args, ",")) + ") " + f.Result}) {
			shape.lax = !f.Strict
			out = append(out, listedForm{shape, f})
		}
	}
	listedAll[name] = out
	return out
}

// unnamed reports whether a type of a list has no OID here.
func unnamed(arg string) bool {
	name := strings.TrimSuffix(wildcards.Replace(inventory.Type(arg)), "[]")
	return oid.Named(name) == 0
}

// fitting finds the form that PostgreSQL would call.
func fitting(name string, args []*expr) (best listedForm, bestScore int) {
	bestScore = -1
	for _, f := range listed(name) {
		if score := f.fit(args); score > bestScore {
			best, bestScore = f, score
		}
	}
	return best, bestScore
}

// listedCall finds what is called where the library has nothing that fits: the operator that the
// function does. What PostgreSQL has and this package has not is refused with the reason.
func (b functionBinder) listedCall(f listedForm) (*form, error) {
	if op := f.of.Operator(); op != nil {
		if called := b.operatorForm(f, op); called != nil {
			return called, nil
		}
	}
	return nil, refused("function "+f.of.Signature(), f.of.Why())
}

// operatorForm is a function that does an operator, or nil where the operator is not answered.
func (b functionBinder) operatorForm(f listedForm, op *inventory.Operator) *form {
	values := make([]datum.Value, len(f.args))
	sides := make([]*expr, len(f.args))
	for i, t := range f.args {
		if t == 0 || t == oid.AnyArray {
			return nil
		}
		sides[i] = (&expr{typ: t}).held(&values[i])
	}
	var left *expr
	if len(sides) == 2 {
		left = sides[0]
	}
	x, err := operatorBinder{b.types}.binary(op.Name, left, sides[len(sides)-1])
	if err != nil || x.typ != f.result {
		return nil
	}
	called := *f.form
	called.do = func(c *Call) (datum.Value, error) {
		copy(values, c.Args)
		return x.eval(&env{run: c.run})
	}
	return &called
}

// refused says why something that PostgreSQL has is not answered.
func refused(what string, why inventory.Reason) error {
	return hint(Fail("0A000", "%s is not answered here: it %s", what, why), "docs/tools.md has what is answered.")
}

// listedOperator is an operator that PostgreSQL has for these sides, or nil.
func listedOperator(op string, l, r *expr) *inventory.Operator {
	takes := func(name string, x *expr) bool {
		if x == nil || name == "" {
			return x == nil && name == ""
		}
		if unnamed(name) {
			return false
		}
		t := signatureType(wildcards.Replace(name))
		switch {
		case x.untyped() || t == 0:
			return true
		case t == oid.AnyArray:
			return oid.Elem(x.typ) != 0
		}
		return implicit(x.typ, t) > 0
	}
	for _, o := range inventory.Symbol(op) {
		if takes(o.Left, l) && takes(o.Right, r) {
			return o
		}
	}
	return nil
}

// signature is an operator with the types of its sides.
func signature(o *inventory.Operator) string {
	return strings.TrimSpace("operator " + strings.TrimSpace(o.Left+" "+o.Name) + " " + o.Right)
}

// Answers reports whether a form of a function of PostgreSQL's is answered, with a value of its
// type.
func (l Library) Answers(db Database, f *inventory.Function) bool {
	types := append([]string{f.Result}, f.Args...)
	without := func(t string) bool { return unnamed(t) || inventory.Strange(inventory.Type(t)) }
	if slices.ContainsFunc(types, without) {
		return false
	}
	r := &run{db: db}
	b := &typeBinder{run: r}
	var args []*expr
	for _, a := range f.Args {
		args = append(args, &expr{typ: standIn(inventory.Type(a))})
	}
	result := standIn(f.Result)
	switch f.Kind {
	case 'a':
		a := aggregates[f.Name]
		if a == nil {
			return false
		}
		if f.Name == "count" {
			return true
		}
		return len(args) == len(a.untyped) && a.result(args) == result
	case 'w':
		return isWindow(f.Name) && len(args) == 0
	case 'p':
		return false
	}
	if t := oid.Named(f.Name); t != 0 && len(l[f.Name]) == 0 && len(args) == 1 && !f.Set {
		return t == result && castable(args[0].typ, t) // a type's name is called to cast
	}
	bound, err := functionBinder{l, b}.bindCall([]string{schemaOf(f.Name), f.Name}, args)
	return err == nil && bound.typ == result && bound.set == f.Set
}

// schemaOf is the schema that a function of PostgreSQL's is in.
func schemaOf(name string) string {
	if strings.HasPrefix(name, "_pg_") {
		return "information_schema"
	}
	return "pg_catalog"
}

// AnswersOperator reports whether an operator of PostgreSQL's is answered, with a value of its
// type.
func AnswersOperator(db Database, o *inventory.Operator) bool {
	if inventory.Strange(o.Left) || inventory.Strange(o.Right) || inventory.Strange(o.Result) {
		return false
	}
	side := func(name string) *expr {
		if name == "" {
			return nil
		}
		return &expr{typ: standIn(name)}
	}
	x, err := operatorBinder{&typeBinder{run: &run{db: db}}}.binary(o.Name, side(o.Left), side(o.Right))
	return err == nil && x.typ == standIn(o.Result)
}

// standIn is a type of a list, or for one that stands for others one of these.
func standIn(name string) uint32 {
	switch wildcards.Replace(name) {
	case "any":
		return oid.Int4
	case "anyarray":
		return oid.ArrayOf(oid.Int4)
	}
	return signatureType(name)
}

// strange reports whether a type has no values here but NULL.
func strange(t uint32) bool {
	if e := oid.Elem(t); e != 0 {
		t = e
	}
	d := oid.Find(t)
	return d != nil && inventory.Strange(d.Name)
}

// isAggregate reports whether PostgreSQL has an aggregate function of this name, and no other.
func isAggregate(name string) bool {
	all := inventory.Named(name)
	return len(all) > 0 && all[0].Kind != 'f' && all[0].Kind != 'p'
}

// refusedAggregate says why an aggregate that PostgreSQL has for these arguments is not answered;
// it is nil where PostgreSQL has none.
func refusedAggregate(name string, args []*expr) error {
	for _, f := range inventory.Named(name) {
		if f.Kind == 'f' || len(f.Args) != len(args) || slices.ContainsFunc(f.Args, unnamed) {
			continue
		}
		fits := true
		for i, a := range f.Args {
			t := signatureType(wildcards.Replace(inventory.Type(a)))
			fits = fits && (args[i].untyped() || t == 0 || t == oid.AnyArray && oid.Elem(args[i].typ) != 0 || implicit(args[i].typ, t) > 0)
		}
		if fits {
			return refused("aggregate "+f.Signature(), f.Why())
		}
	}
	return nil
}
