package planner

import (
	"regexp"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
)

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// withOwnKey names a column of the question's tables in what a refusal proposes, and leaves the
// grouping out where none has public keys.
func withOwnKey(ds *policy.Dataset, text *syntax.Text, err error) error {
	r, ok := err.(*api.Refusal)
	if !ok || !strings.Contains(r.Instead, exampleKey) {
		return err
	}
	own := *r
	if key := ownKey(ds, text); key != "" {
		own.Instead = strings.ReplaceAll(r.Instead, exampleKey, key)
	} else {
		own.Instead = strings.NewReplacer(exampleKey+", ", "", " GROUP BY "+exampleKey, "").Replace(r.Instead)
	}
	return &own
}

// ownKey is the column with the fewest listed keys of the first table of a question that has one.
func ownKey(ds *policy.Dataset, text *syntax.Text) (key string) {
	s, err := text.SelectOf(ds.Name)
	if err != nil {
		return ""
	}
	syntax.EachNode(syntax.SelectNode(s), func(n *pg.Node) bool {
		t := ds.Tables[n.GetRangeVar().GetRelname()]
		if t == nil || key != "" {
			return key == ""
		}
		fewest := 0
		for _, name := range t.ColumnNames() {
			c := t.Columns[name]
			if n := len(c.KeyValues); c.Keys == policy.PublicKeys && n > 0 && (fewest == 0 || n < fewest) {
				key, fewest = name, n
			}
		}
		return key == ""
	})
	if key != "" && !plainName.MatchString(key) {
		key = `"` + strings.ReplaceAll(key, `"`, `""`) + `"`
	}
	return key
}
