package postquery_test

import (
	"context"
	"encoding/json"
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/engine/postquery"
)

func Example() {
	visits := postquery.Table{
		Name:    "visits",
		Columns: []postquery.Column{{Name: "ward", Kind: postquery.Text}, {Name: "n", Kind: postquery.Integer}},
		Rows:    [][]any{{"A", json.Number("120")}, {"B", json.Number("61")}, {"C", json.Number("-2")}},
	}
	tree, err := pg.Parse("SELECT ward, n, rank() OVER (ORDER BY n DESC) AS place FROM visits WHERE n > 0 ORDER BY place")
	if err != nil {
		panic(err)
	}
	sql, err := postquery.Check(tree.Stmts[0].Stmt.GetSelectStmt(), map[string][]string{"visits": {"ward", "n"}})
	if err != nil {
		panic(err)
	}
	answer, err := postquery.Run(context.Background(), sql, []postquery.Table{visits})
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
	_, err = postquery.Check(tree.Stmts[0].Stmt.GetSelectStmt(), map[string][]string{"visits": {"ward", "n"}})
	fmt.Println(err)
	// Output:
	// A 120 1
	// B 61 2
	// "patients" is not a released result; there is visits
}
