package pgcatalog_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/pgcatalog"
	"github.com/discreet-dp/discreet/policy"
)

func Example() {
	p, err := policy.Parse("policy.yaml", []byte(`
datasets:
  hospital:
    engine: duckdb
    source: hospital.duckdb
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: {}}
    tables:
      patients:
        columns:
          age: {type: integer, bounds: [0, 110]}
          sex: {type: text, keys: [F, M, X]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := pgcatalog.New(p, "hospital", pgcatalog.Session{User: "ana"})
	sql := `SELECT a.attname, format_type(a.atttypid, a.atttypmod), col_description(a.attrelid, a.attnum)
		FROM pg_attribute a WHERE a.attrelid = 'patients'::regclass AND a.attnum > 0 ORDER BY a.attnum`
	result, err := c.Query(context.Background(), sql, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range result.Rows {
		fmt.Println(row...)
	}
	// Output:
	// age bigint bounds 0 to 110; noisy; private
	// sex text keys F, M, X; noisy; private
}
