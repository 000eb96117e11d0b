package outer_test

import (
	"context"
	"encoding/json"
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/engine/outer"
)

func Example() {
	visits := outer.Table{
		Name:    "visits",
		Columns: []outer.Column{{Name: "ward", Kind: outer.Text}, {Name: "n", Kind: outer.Integer}},
		Rows:    [][]any{{"A", json.Number("120")}, {"B", json.Number("61")}, {"C", json.Number("-2")}},
	}
	tree, err := pg.Parse("SELECT ward, n, rank() OVER (ORDER BY n DESC) AS place FROM visits WHERE n > 0 ORDER BY place")
	if err != nil {
		panic(err)
	}
	sql, err := outer.Check(tree.Stmts[0].Stmt.GetSelectStmt(), map[string][]string{"visits": {"ward", "n"}})
	if err != nil {
		panic(err)
	}
	answer, err := outer.Run(context.Background(), sql, []outer.Table{visits})
	if err != nil {
		panic(err)
	}
	for _, row := range answer.Rows {
		fmt.Println(row...)
	}

	tree, err = pg.Parse("SELECT * FROM visits JOIN patients ON true")
	if err != nil {
		panic(err)
	}
	_, err = outer.Check(tree.Stmts[0].Stmt.GetSelectStmt(), map[string][]string{"visits": {"ward", "n"}})
	fmt.Println(err)
	// Output:
	// A 120 1
	// B 61 2
	// "patients" is not a released result; there is visits
}
