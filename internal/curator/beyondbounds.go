package curator

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/profile"
	"github.com/discreet-dp/discreet/policy"
)

// mostBounded is of how many columns profiles are looked for: each takes some work, and who sees as
// many notes reads none.
const mostBounded = 8

// sayBounds adds to an answer what bounds cut: of each column that it reads and that a profile was
// paid for, how many people have values there, and of the others that its results and keys are of,
// that nobody knows. It is made of what was released and of the policy, and of nothing else.
func (a *request) sayBounds(ctx context.Context, out *api.Answer) {
	if a.moved {
		return // a profile is of the data before, or after
	}
	columns, shown := a.Statement.Bounded()
	var unknown []*policy.Column
	said := false
	for i, c := range columns {
		t := declares(a.c.dataset, c)
		if t == nil || i >= mostBounded {
			continue
		}
		if profile.OfValues(t, c) {
			answer := a.profileAnswer(ctx, c, func() string { return profile.ValuesQuestion(t, c) })
			if v, err := profile.ReadValues(c, answer); err == nil {
				out.Notes, said = append(out.Notes, v.AtBounds(t, c)), true
				continue
			}
		}
		if i < shown {
			unknown = append(unknown, c)
		}
	}
	if len(unknown) > 0 {
		out.Notes, said = append(out.Notes, profile.Bounds(unknown)), true
	}
	if said {
		out.Notes[len(out.Notes)-1] += "; error bars leave that out"
	}
}

// declares is the table that a column is declared in, or nil.
func declares(ds *policy.Dataset, column *policy.Column) *policy.Table {
	for _, t := range ds.Tables {
		if t.Columns[column.Name] == column {
			return t
		}
	}
	return nil
}
