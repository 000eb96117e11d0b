package curator

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// narrow gives an average, whose limits choose themselves, an upper limit for its values that is
// below the bound, where a profile of the column was paid for and says that the error is less with
// it. What is asked then is an ordinary question with LEAST in it, and what it is made of was
// released. It is the same at all prices: as for the default one.
func (c *Curator) narrow(ctx context.Context, q api.Question) (narrower api.Question, says string) {
	statement, s, _, err := c.planner.prepare(ctx, q)
	text := textOf(q)
	if err != nil || statement.Empty || q.Parts || s.Error != nil || text.Now() != "" || s.MaxSum != nil {
		return q, ""
	}
	column, measure := statement.Averaged()
	t := declares(c.dataset, column)
	if t == nil || !profile.OfValues(t, column) || !s.ChoosesLimits() && !choosesItself(c.dataset, statement.Plans[0].Query.From) {
		return q, ""
	}
	values, err := profile.ReadValues(column, c.profileOf(ctx, q, profile.ValuesQuestion(t, column)))
	if err != nil {
		return q, ""
	}
	query := &statement.Plans[0].Query
	s.Epsilon = c.dataset.Budget.DefaultEpsilon
	p, _, err := c.planner.prices(text.Key(), statement, s)
	if err != nil || len(p.Purchases) != 1 {
		return q, ""
	}
	rows := 1.0
	if query.Bounded() {
		rows = float64(query.MaxRows())
		if all, err := profile.Read(c.profileOf(ctx, q, profile.Question(t))); profile.Of(t) && err == nil && len(all.Cells) > 0 {
			rows = min(rows, max(1, all.Rows().About/max(1, all.People())))
		}
	}
	noise := p.Inquiry(p.Purchases[0]).Measures[measure].Deviation
	limit, beyond := values.Narrower(noise, rows, float64(max(query.Groups(), 1)))
	if limit == "" {
		return q, ""
	}
	sql, err := statement.Narrowed(c.dataset, text, column, limit)
	if err != nil || sql == "" {
		return q, ""
	}
	narrower = q
	narrower.SQL, narrower.Parsed, narrower.Parameters = sql, syntax.Open(sql, nil), nil
	if _, _, _, err := c.planner.prepare(ctx, narrower); err != nil {
		return q, ""
	}
	return narrower, fmt.Sprintf("a %s above %s counts as %s, chosen for the least error: about %.0f people have one", column.Name, limit,
		limit, beyond)
}

// choosesItself reports whether the policy lets limits of a question's tables choose themselves.
func choosesItself(ds *policy.Dataset, from tree.Relation) bool {
	return slices.ContainsFunc(pricing.Tables(from), func(name string) bool {
		t := ds.Tables[name]
		return t != nil && t.Auto()
	})
}

// profileOf is the sharpest answer to a question of package profile that was paid for, or nil.
func (c *Curator) profileOf(ctx context.Context, of api.Question, sql string) *api.Answer {
	q := api.Question{Dataset: of.Dataset, Analyst: of.Analyst, SQL: sql, Epsilon: c.dataset.Budget.MinEpsilon, AsOf: of.AsOf,
		Settings: api.Settings{Stream: "off"}}
	a, _ := c.recalled(ctx, q, answercache.Horizon{AsOf: of.AsOf, Spoken: true, Sharpest: true})
	return a
}

// declares is the table that a column is declared in, or nil.
func declares(ds *policy.Dataset, column *policy.Column) *policy.Table {
	if column == nil {
		return nil
	}
	for _, t := range ds.Tables {
		if t.Columns[column.Name] == column {
			return t
		}
	}
	return nil
}
