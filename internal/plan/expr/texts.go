package expr

import "github.com/discreet-dp/discreet/internal/plan/tree"

// Texts is what the constant texts of an expression weigh.
func Texts(e tree.Expr) (n int) {
	tree.Walk(e, func(x tree.Expr) { n += TextsOf(x) })
	return n
}

// TextsOf is what those of one node weigh.
func TextsOf(e tree.Expr) (n int) {
	var all []*tree.Literal
	switch e := e.(type) {
	case *tree.Literal:
		all = []*tree.Literal{e}
	case *tree.In:
		all = e.List
	case *tree.Like:
		n = len(e.Pattern) / 16
	}
	for _, l := range all {
		if l.Text != nil {
			n += len(*l.Text) / 32
		}
	}
	return n
}
