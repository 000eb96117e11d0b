package plan

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// byParts computes an expression for all values of the small numbers that it is made of, such as
// the hours of any day, where its columns themselves have too many values or none that are public.
// Not every combination need occur.
func (df *domainFinder) byParts(e tree.Expr) ([]policy.Value, bool) {
	var parts []tree.Expr
	if !df.smallParts(e, &parts) || len(parts) == 0 {
		return nil, false
	}
	total := 1
	for _, p := range parts {
		t := p.Type()
		if total *= int(t.Hi.Int64()-t.Lo.Int64()) + 2; total > expr.MaxDomain/8 {
			return nil, false
		}
	}
	// Each part is a column of a row that is made up.
	of := expr.Replaced(e, func(x tree.Expr) tree.Expr {
		name := df.env.spell(x)
		at := slices.IndexFunc(parts, func(p tree.Expr) bool { return df.env.spell(p) == name })
		if at < 0 {
			return nil
		}
		return &tree.Column{Index: at, Field: tree.Field{Type: x.Type()}}
	})
	var out []policy.Value
	row := make([]tree.Value, len(parts))
	var try func(i int)
	try = func(i int) {
		if i == len(parts) {
			df.env.meter().Work(1, meter.Found)
			df.env.meter().Build(meter.FoundBytes)
			// A NULL is no group, as it is of the columns.
			if v := df.env.compute(of, func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Index] }); v != nil {
				out = append(out, expr.KeyValue(v, e.Type()))
			}
			return
		}
		values, _, _ := expr.Points(parts[i].Type())
		for _, v := range values {
			row[i] = expr.FromKey(v, parts[i].Type())
			try(i + 1)
		}
		if expr.Nullable(parts[i]) { // of which coalesce makes a group
			row[i] = nil
			try(i + 1)
		}
	}
	try(0)
	out = expr.SortedValues(out)
	return out, len(out) > 0 && len(out) <= maxGroups
}

// smallParts collects the parts of an expression that are numbers of few values, each once, where
// all columns are in one of them.
func (df *domainFinder) smallParts(e tree.Expr, parts *[]tree.Expr) bool {
	if isSmall(e.Type()) {
		if _, constant := e.(*tree.Literal); constant {
			return true
		}
		if !slices.ContainsFunc(*parts, func(p tree.Expr) bool { return df.env.spell(p) == df.env.spell(e) }) {
			*parts = append(*parts, e)
		}
		return true
	}
	switch e.(type) {
	case *tree.Column, *tree.Exists, *tree.Released:
		return false
	}
	for _, p := range tree.Parts(e) {
		if !df.smallParts(p, parts) {
			return false
		}
	}
	return true
}

// isSmall reports whether a type is of numbers, and of few of them.
func isSmall(t tree.Type) bool {
	return t.Kind == tree.Number && t.Declared && t.Lo.IsInt64() && t.Hi.IsInt64() && t.Hi.Int64()-t.Lo.Int64() < mostSmall &&
		t.Hi.Int64()-t.Lo.Int64() >= 0
}

// mostSmall is how many values a part has at most.
const mostSmall = 1000
