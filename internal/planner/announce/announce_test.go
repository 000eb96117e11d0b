package announce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/announce"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
)

const shop = `datasets:
  shop:
    engine: duckdb
    source: shop.duckdb
    unit: people.pid
    budget: {epsilon: 1}
    analysts: {ana: {share: 1}}
    tables:
      people:
        unique: pid
        columns:
          age:  {type: integer, bounds: [0, 110]}
          paid: {type: decimal, bounds: [-5, 1000], granularity: 0.01}
          part: {type: decimal, bounds: [0, 0.5], granularity: 0.001}
          odd:  {type: decimal, bounds: [0, 1], granularity: 1/3}
          any:  {type: decimal}
          town: {type: text}
          born: {type: date}
      towns:
        public: true
        columns:
          town: {type: text}
          size: {type: integer}
    views:
      months: SELECT date_trunc('month', born) AS month, paid, town FROM people
      again: SELECT * FROM again
      joined: SELECT * FROM months JOIN towns USING (town)
`

func dataset(t *testing.T) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("shop.yaml", []byte(strings.Replace(shop, "1/3", "0.25", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["shop"]
}

func describe(t *testing.T, ds *policy.Dataset, sql string, kinds ...string) string {
	t.Helper()
	s, err := syntax.Open(sql, nil).SelectOf("shop")
	if err != nil {
		t.Fatal(err)
	}
	columns, work := announce.Columns(ds, s, kinds)
	if work <= 0 {
		t.Errorf("%s: took no work", sql)
	}
	var out []string
	for _, c := range columns {
		text := c.Name + " " + c.Type.Name
		if c.Modifier != 0 {
			text += fmt.Sprintf("(%d,%d)", (c.Modifier-4)>>16, (c.Modifier-4)&0x7ff)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// TestColumns follows names; the types of operators and functions are compared with a PostgreSQL's
// in internal/server/pgwire.
func TestColumns(t *testing.T) {
	ds := dataset(t)
	for sql, want := range map[string]string{
		"SELECT paid, part, odd, \"any\" FROM people":                                    "paid numeric(6,2), part numeric(3,3), odd numeric(3,2), any numeric",
		"SELECT PAID AS p, People.Age FROM people":                                       "p numeric(6,2), age int8",
		"SELECT * FROM towns":                                                            "town text, size int8",
		"SELECT t.* FROM people, towns AS t":                                             "town text, size int8",
		"SELECT * FROM (SELECT age AS a, paid FROM people) AS x(b)":                      "b int8, paid numeric(6,2)",
		"SELECT * FROM people AS p JOIN towns AS t USING (town)":                         "town text, age int8, paid numeric(6,2), part numeric(3,3), odd numeric(3,2), any numeric, born date, size int8",
		"SELECT month, paid FROM months":                                                 "month timestamptz, paid numeric(6,2)",
		"SELECT * FROM joined":                                                           "town text, month timestamptz, paid numeric(6,2), size int8",
		"SELECT * FROM again":                                                            "",
		"SELECT x FROM nowhere":                                                          "x ",
		"WITH a AS (SELECT sum(age) AS s FROM people) SELECT s FROM a":                   "s numeric",
		"WITH a (n) AS (SELECT 1), b AS (SELECT n + 1.5 AS m FROM a) SELECT * FROM b, a": "m numeric, n int4",
		"SELECT age FROM people UNION ALL SELECT 1.5":                                    "age numeric",
		"SELECT NULL AS x UNION SELECT born FROM people":                                 "x date",
		"SELECT * FROM (VALUES (1, 'a'), (2.5, NULL)) AS v":                              "column1 numeric, column2 text",
		"SELECT g FROM generate_series(1, 3000000000) AS g":                              "g int8",
		"SELECT d, ordinality FROM generate_series(DATE '2024-01-01', DATE '2024-02-01', INTERVAL '1 day') WITH ORDINALITY AS d": "d timestamptz, ordinality int8",
		"SELECT u FROM unnest(ARRAY['a', 'b']) AS u":                                                         "u text",
		"SELECT (SELECT max(size) FROM towns WHERE towns.town = people.town) FROM people":                    "max int8",
		"SELECT count(*) FROM people HAVING sum(paid) > 5":                                                   "count int8",
		"SELECT CASE WHEN true THEN paid ELSE NULL END, coalesce(paid, paid), coalesce(paid, 1) FROM people": "case numeric, coalesce numeric(6,2), coalesce numeric",
		"SELECT town::varchar(3) AS v FROM people GROUP BY 1":                                                "v varchar(0,3)",
	} {
		if got := describe(t, ds, sql); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

// TestParameters holds that a type follows from the kind of a parameter and not from its value.
func TestParameters(t *testing.T) {
	ds := dataset(t)
	const sql = "SELECT $1 + 1 AS a, sum(age * $1) AS b, $2 AS c, $3 AS d, round($2, 1) AS e FROM people"
	if got := describe(t, ds, sql, "integer", "decimal", "text"); got != "a int8, b numeric, c numeric, d text, e numeric" {
		t.Error(got)
	}
}

// TestBounded gives up where the columns double with every line, after a number of steps that does
// not depend on how many there would be.
func TestBounded(t *testing.T) {
	sql := "WITH a0 AS (SELECT * FROM people)"
	for i := range 30 {
		sql += fmt.Sprintf(", a%d AS (SELECT * FROM a%d AS x, a%d AS y)", i+1, i, i)
	}
	if got := describe(t, dataset(t), sql+" SELECT * FROM a30"); got != "" {
		t.Errorf("%.100s", got)
	}
}
