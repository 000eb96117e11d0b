package trinotables

import (
	"context"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/policy"
)

// askVersion asks the owner's version query. In brackets there is room for one SELECT and nothing
// else.
func (d *Database) askVersion(ctx context.Context) (string, error) {
	failed := func(problem string, err error) (string, error) {
		return "", &policy.VersionError{Dataset: d.dataset.Name, Problem: problem, Err: err}
	}
	query := strings.TrimRightFunc(d.dataset.VersionQuery, func(r rune) bool { return r == ';' || unicode.IsSpace(r) })
	rows, err := d.rows(ctx, "SELECT CAST(v AS varchar), CAST(v IS NULL AS varchar) FROM (\n"+query+"\n) AS t (v) LIMIT 2")
	switch {
	case err != nil && trinoSaid(err):
		return failed("cannot be run; write one SELECT of one column about tables of the cluster, such as SELECT max(loaded_at) FROM "+
			"load_log", errorText(d.place.Why(err)))
	case err != nil:
		return "", d.failed(ctx, err)
	case len(rows) == 0:
		return failed("has no row; it has to have one, so take an aggregate such as max", nil)
	case len(rows) > 1:
		return failed("has several rows; it has to have one, so take an aggregate such as max", nil)
	case rows[0][1] == "true":
		return failed("is NULL; it has to have a value, so write coalesce(..., 'empty')", nil)
	}
	if problem := policy.CheckVersionName(rows[0][0]); problem != "" {
		return failed(problem, nil)
	}
	return rows[0][0], nil
}

type errorText string

func (e errorText) Error() string { return string(e) }
