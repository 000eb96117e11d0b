package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// view finds a view of the owner's. It is checked as a subquery is, and means the policy's tables
// only: names of the question's WITH are not in it.
func (e *env) findView(v *pg.RangeVar) (source, bool, error) {
	text, ok := lookup(e.dataset.Views, v.Relname)
	if !ok {
		return source{}, false, nil
	}
	name := strings.ToLower(v.Relname)
	if slices.Contains(e.views, name) {
		return source{}, false, syntax.Refuse(v.Location, "ask the owner to correct it", "the view %q reads itself", v.Relname)
	}
	s, err := syntax.Open(text, nil).SelectOf(e.dataset.Name)
	if err != nil {
		return source{}, false, syntax.Refuse(v.Location, "ask the owner to correct it", "the view %q cannot be read", v.Relname)
	}
	inner := *e
	inner.ctes, inner.views = map[string]cte{}, append(slices.Clone(e.views), name)
	return source{query: s, env: &inner, isView: true}, true, nil
}

// CheckViews checks every view of a dataset, for the owner. Its errors are for the owner to mend,
// and not refusals.
func CheckViews(ds *policy.Dataset) error {
	var all []error
	for _, name := range ds.ViewNames() {
		text := "SELECT COUNT(*) FROM " + `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		if s, err := syntax.Open(text, nil).SelectOf(ds.Name); err == nil {
			var rows rows
			err := meter.Run(func() (err error) {
				rows, err = rowReader{newEnv(ds, Options{})}.readFrom(s)
				return err
			})
			if err == nil && !tree.Private(rows) {
				continue // of public tables: it is asked about alone, or joined
			}
		}
		if _, err := Prepare(ds, text, Options{}); err != nil {
			all = append(all, fmt.Errorf("%s; correct it under 'views' in the policy", reason(err)))
		}
	}
	return errors.Join(all...)
}
