package plan

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// byBytes are the collations in which texts compare by their bytes, as all texts do here.
var byBytes = []string{"C", "POSIX", "ucs_basic", "C.UTF-8", "C.utf8", "pg_c_utf8", "default"}

// checkCollate reads x COLLATE "C", which is x.
func checkCollate(s scope, c *pg.CollateClause) (tree.Expr, error) {
	names := c.Collname
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 || !slices.Contains(byBytes, names[0].GetString_().GetSval()) {
		return nil, syntax.Refuse(c.Location, `leave it out, or write COLLATE "C"`,
			"texts compare by their bytes here, and there are no other collations")
	}
	if c.Arg.GetCollateClause() != nil {
		return nil, syntax.Refuse(c.Location, "write COLLATE once", "a text has one collation")
	}
	e, err := checkExpr(s, c.Arg)
	if err != nil {
		return nil, err
	}
	if e = adoptText(e); e.Type().Kind != tree.Text {
		return nil, syntax.Refuse(c.Location, "leave it out", "COLLATE is for text, and this is %s", expr.Article(e.Type().Kind))
	}
	return e, nil
}
