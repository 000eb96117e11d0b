package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// owned looks once more at whose rows are, as provenTotal does at numbers: a private relation has a
// unit that is an identity as it is stored, the parts of a union have it at one place, and private
// rows meet only where both are one person's.
func owned(r tree.Relation) error {
	lost := func() error {
		return syntax.Refuse(-1, "ask it in another way, and tell the maintainers of Discreet about it",
			"the planner lost track of whose the rows are")
	}
	if u := r.Unit(); u >= 0 && !r.Fields()[u].Raw() {
		return lost()
	}
	switch r := r.(type) {
	case *tree.Join:
		if tree.Private(r.R) && (r.Left && !tree.Private(r.L) || tree.Private(r.L) && !expr.Linked(r.On, len(r.L.Fields()))) {
			return lost()
		}
	case *tree.Persons:
		if !tree.Private(r.From) || r.Row[0].Identity != r.From.Fields()[r.From.Unit()].Identity {
			return lost()
		}
	case *tree.Window:
		if !tree.Private(r.From) || r.Whose != r.From.Unit() {
			return lost()
		}
	case *tree.Union:
		for _, p := range r.Parts {
			if p.Unit() != r.Unit() || len(p.Fields()) != len(r.Fields()) {
				return lost()
			}
		}
	}
	return nil
}
