package cells

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/policy"
)

// LinearWhere reads a condition on the rows of the stream's table, or says why it is none that the
// stream can count.
func (g *Grid) LinearWhere(condition string, o plan.Options) (*linear.Query, error) {
	text := "SELECT COUNT(*) FROM " + quoteName(g.Stream.Table)
	if strings.TrimSpace(condition) != "" {
		text += " WHERE (" + condition + "\n)"
	}
	return g.LinearCount(text, o)
}

func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// LinearCount reads a SELECT of one count over the stream's table.
func (g *Grid) LinearCount(text string, o plan.Options) (*linear.Query, error) {
	const one = "ask for one COUNT without GROUP BY, as in SELECT COUNT(*) FROM table WHERE ..., or write the condition alone"
	st, err := plan.Prepare(g.dataset, text, o)
	if err != nil {
		return nil, err
	}
	if st.Outer != nil || len(st.Plans) != 1 {
		return nil, syntax.Refuse(-1, one, "a question to a stream has nothing around it")
	}
	p := st.Plans[0]
	r, plain := (*tree.Released)(nil), false
	if len(p.Columns) == 1 {
		r, plain = p.Columns[0].Expr.(*tree.Released)
	}
	if !plain || r.Part != tree.PartValue || p.Stats[r.Stat].Kind != tree.MeasureStat || len(p.Query.Keys) > 0 ||
		len(p.Query.Measures) != 1 || p.Having != nil || p.Limit != nil || p.Offset != 0 {
		return nil, syntax.Refuse(-1, one, "a question to a stream is one count")
	}
	var terms [][][]Term
	ok := false
	err = meter.Run(func() error {
		terms, ok = g.Linear(o.Meter, &p.Query)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !ok || len(terms[0][0]) != 1 || terms[0][0][0].Weight != 1 {
		return nil, syntax.Refuse(-1, g.advice(), "this is not a count over the cells of the stream %s", g.Stream.Name)
	}
	return terms[0][0][0].Query, nil
}

// advice says what a stream can be asked about.
func (g *Grid) advice() string {
	var names []string
	for _, c := range g.columns {
		name := c.Name
		if c.ranges && slices.ContainsFunc(c.Bins, func(b policy.Bin) bool { return b.Hi > b.Lo }) {
			name += " (in whole ranges)"
		}
		names = append(names, name)
	}
	return "its columns are " + strings.Join(names, ", ") +
		", with the values that the policy lists; ask other questions as a SELECT of its own"
}
