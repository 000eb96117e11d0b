package expr

import "github.com/discreet-dp/discreet/internal/plan/tree"

// NewCase brings the branches to one type. The value is one of all branches, the last one too.
func NewCase(whens []tree.When, otherwise tree.Expr, pos int32) (tree.Expr, error) {
	values := make([]tree.Expr, 0, len(whens)+1)
	for _, w := range whens {
		values = append(values, w.Then)
	}
	values, err := Unify(append(values, otherwise), "CASE", pos)
	if err != nil {
		return nil, err
	}
	e := &tree.Case{Else: values[len(whens)], Typ: Hull(values)}
	for i, w := range whens {
		e.Whens = append(e.Whens, tree.When{If: w.If, Then: values[i]})
	}
	if err := NotTooLarge(e, pos); err != nil {
		return nil, err
	}
	return Checked(e, pos)
}

// normalCase leaves out what is never reached.
func (n normalizer) normalCase(x *tree.Case) tree.Expr {
	e := &tree.Case{Else: n.normal(x.Else), Typ: x.Typ}
	for _, w := range x.Whens {
		w = tree.When{If: n.truth(n.normal(w.If)), Then: n.normal(w.Then)}
		if l, ok := w.If.(*tree.Literal); ok {
			if l.Bool == nil || !*l.Bool {
				continue
			}
			e.Else = w.Then
			break
		}
		e.Whens = append(e.Whens, w)
	}
	if len(e.Whens) == 0 {
		return e.Else
	}
	return e
}
