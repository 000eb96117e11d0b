package plan_test

import (
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

type noValues struct{}

func (noValues) Values(string, string, int) ([]policy.Value, error) { return nil, nil }
func (noValues) Most(string, []string) (int64, error)               { return 0, nil }

func (noValues) Rows(string, int) ([][]tree.Value, error) { return nil, nil }

// TestEmptyPublicTable: a question without groups is refused, because there is no price for it.
func TestEmptyPublicTable(t *testing.T) {
	p, err := policy.Parse(filepath.Join(t.TempDir(), "policy.yaml"), []byte(`datasets:
  d:
    engine: duckdb
    source: x.duckdb
    unit: v.id
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {a: {}}
    tables:
      v: {max_rows: 3, max_groups: 2, columns: {id: {type: integer}, code: {type: integer}, x: {type: integer, bounds: [0, 9]}}}
      tags: {public: true, max_rows: 2, columns: {code: {type: integer}, tag: {type: text, nullable: false}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT tag, COUNT(*) FROM v JOIN tags ON v.code = tags.code GROUP BY tag",
		"SELECT tag, MEDIAN(x) FROM v JOIN tags ON v.code = tags.code GROUP BY tag",
		"SELECT tag FROM v JOIN tags ON v.code = tags.code GROUP BY tag ORDER BY COUNT(*) DESC LIMIT 2",
	} {
		if _, err := plan.Prepare(p.Datasets["d"], text, plan.Options{Public: noValues{}}); err == nil {
			t.Errorf("%s is not refused", text)
		}
	}
}
