package plan

// When is a branch of a CASE.
type When struct{ If, Then Expr }

func newCase(whens []When, otherwise Expr, pos int32) (Expr, error) {
	return nil, refuse(pos, "", "not yet")
}

func caseResults(e Expr) ([]Expr, bool) { return nil, false }

func newCoalesce(args []Expr, pos int32) (Expr, error) { return nil, refuse(pos, "", "not yet") }
