package curator

import (
	"context"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// sayBeyondBounds adds to an answer how many people have values that bounds cut, of the columns
// that its sums, averages and quantiles are of; and of those of which no profile was paid for, that
// nobody knows. It is made of what was released and of the policy, and of nothing else.
func (a *request) sayBeyondBounds(ctx context.Context, out *api.Answer) {
	var said []*policy.Column
	for _, p := range a.Priced.Statement.Plans {
		for _, m := range p.Query.Measures {
			if m.Kind != tree.Sum && m.Kind != tree.Quantile || m.Most != nil {
				continue
			}
			for _, column := range boundedBy(m.Arg) {
				t := a.tableWith(p, column)
				if t == nil || slices.Contains(said, column) || !profile.OfValues(t, column) {
					continue
				}
				said = append(said, column)
				answer := a.profileAnswer(ctx, column, func() string { return profile.ValuesQuestion(t, column) })
				if answer == nil {
					out.Notes = append(out.Notes, profile.Bounds(column))
					continue
				}
				if v, err := profile.ReadValues(column, answer); err == nil {
					out.Notes = append(out.Notes, v.BeyondBounds(t, column)...)
				}
			}
		}
	}
}

// tableWith is the table that a plan reads a column of.
func (a *request) tableWith(p *tree.Plan, column *policy.Column) *policy.Table {
	for _, name := range pricing.Tables(p.Query.From) {
		if t := a.c.dataset.Tables[name]; t != nil && t.Columns[column.Name] == column {
			return t
		}
	}
	return nil
}

// boundedBy are the columns of which values beyond the bounds change an expression: not those that
// it takes no more of than it says itself, as LEAST does.
func boundedBy(e tree.Expr) []*policy.Column {
	switch e := e.(type) {
	case *tree.Column:
		if e.Field.Source != nil && e.Field.Public == "" {
			return []*policy.Column{e.Field.Source}
		}
	case *tree.Arith, *tree.Rescale, *tree.ToReal:
		var out []*policy.Column
		tree.EachPart(e, func(part tree.Expr) { out = append(out, boundedBy(part)...) })
		return out
	}
	return nil
}
