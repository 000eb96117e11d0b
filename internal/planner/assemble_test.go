package planner_test

import (
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

func prepare(t testing.TB, ds *policy.Dataset, text string) *tree.Plan {
	t.Helper()
	st, err := planner.Prepare(ds, text, planner.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return st.Plans[0]
}

var sameQuestions = map[string][]string{
	"spaces, case, names": {
		"SELECT COUNT(*) FROM patients WHERE age > 40",
		"select\tcount( * )\nfrom   Patients where AGE>40;",
		`SELECT COUNT(*) AS "n" FROM "patients" AS p WHERE p."age" > 40 -- a comment`,
		"SELECT ALL COUNT(1) FROM patients WHERE (((age > 40)))",
		"SELECT pg_catalog.COUNT(*) FROM patients WHERE patients.age > 40",
	},
	"conditions that change nothing": {
		"SELECT COUNT(*) FROM patients WHERE age > 40",
		"SELECT COUNT(*) FROM patients WHERE age > 40 AND 1=1",
		"SELECT COUNT(*) FROM patients WHERE true AND age > 40 AND 'a' = 'a' AND 2 > 1",
		"SELECT COUNT(*) FROM patients WHERE age > 40 OR 1=2",
		"SELECT COUNT(*) FROM patients WHERE age > 40 AND age > 40",
		"SELECT COUNT(*) FROM patients WHERE NOT NOT age > 40",
		"SELECT COUNT(*) FROM patients WHERE NOT (NOT (age > 40))",
	},
	"NOT, moved down": {
		"SELECT COUNT(*) FROM patients WHERE age >= 40 AND sex <> 'F' AND NOT smoker",
		"SELECT COUNT(*) FROM patients WHERE NOT age < 40 AND NOT sex = 'F' AND NOT smoker",
		"SELECT COUNT(*) FROM patients WHERE NOT (age < 40 OR sex IN ('F') OR smoker)",
		"SELECT COUNT(*) FROM patients WHERE NOT (NOT (age >= 40 AND NOT smoker) OR sex = 'F')",
	},
	"the person of either side, where both have one": {
		"SELECT COUNT(*) FROM patients p JOIN visits v USING (pid) WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = p.pid) = 0",
		"SELECT COUNT(*) FROM patients p JOIN visits v USING (pid) WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = v.pid) = 0",
	},
	"no condition": {
		"SELECT COUNT(*) FROM patients",
		"SELECT COUNT(*) FROM patients WHERE true",
		"SELECT COUNT(*) FROM patients WHERE 1 < 2 OR age = 5",
		"SELECT COUNT(*) FROM patients WHERE NULL IS NULL",
	},
	"constants": {
		"SELECT COUNT(*) FROM patients WHERE age > 40",
		"SELECT COUNT(*) FROM patients WHERE age > 40.0",
		"SELECT COUNT(*) FROM patients WHERE age > 4e1",
		"SELECT COUNT(*) FROM patients WHERE age > '40'",
		"SELECT COUNT(*) FROM patients WHERE age > 40::int",
		"SELECT COUNT(*) FROM patients WHERE age > 30 + 2 * 5",
		"SELECT COUNT(*) FROM patients WHERE 30 + 2 * 5 < age",
	},
	"flipped comparisons": {
		"SELECT COUNT(*) FROM patients WHERE age <= 40 AND age < balance AND cost = weight",
		"SELECT COUNT(*) FROM patients WHERE 40 >= age AND balance > age AND weight = cost",
	},
	"numbers of truth values": {
		"SELECT SUM(CAST(smoker AS integer)) FROM patients",
		"SELECT SUM(CAST(smoker AS numeric(1,0))) FROM patients",
		"SELECT SUM(CAST(smoker AS numeric)) FROM patients",
	},
	"order of AND and OR": {
		"SELECT COUNT(*) FROM patients WHERE age > 40 AND (smoker OR sex = 'F' OR cost < 5)",
		"SELECT COUNT(*) FROM patients WHERE (cost < 5 OR (sex = 'F' OR smoker)) AND age > 40",
		"SELECT COUNT(*) FROM patients WHERE (5 > cost OR smoker OR sex = 'F' OR smoker) AND (age > 40 AND true)",
	},
	"lists": {
		"SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'X')",
		"SELECT COUNT(*) FROM patients WHERE sex IN ('X', 'F', 'X')",
	},
	"a list of one": {
		"SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'F')",
		"SELECT COUNT(*) FROM patients WHERE sex = 'F'",
		"SELECT COUNT(*) FROM patients WHERE 'F' = sex",
	},
	"functions": {
		"SELECT SUM(round(cost, 1)) FROM patients WHERE lower(zip) LIKE 'a%' AND age % 2 = 0 AND born + 7 > admitted AND " +
			"extract(year from born) > 2000",
		"SELECT SUM(round(cost, 3 - 2)) FROM patients WHERE zip ILIKE 'A%%' AND mod(age, 2) = 0 AND 7 + born > admitted AND " +
			"date_part('YEAR', born) > 2000",
		"SELECT SUM(CASE WHEN true THEN round(cost, 1) ELSE 5 END) FROM patients WHERE starts_with(lower(zip), 'a') AND mod(age, 1 + " +
			"1) = 0 AND admitted < born + '7' AND extract(year from born) > 2000",
	},
	"between": {
		"SELECT COUNT(*) FROM patients WHERE age BETWEEN 10 AND 20",
		"SELECT COUNT(*) FROM patients WHERE age >= 10 AND age <= 20",
		"SELECT COUNT(*) FROM patients WHERE 20 >= age AND 10 <= age",
	},
	"dates": {
		"SELECT COUNT(*) FROM patients WHERE born >= '2000-01-01'",
		"SELECT COUNT(*) FROM patients WHERE DATE '2000-01-01' <= born",
		"SELECT COUNT(*) FROM patients WHERE born >= CAST('2000-01-01' AS date)",
	},
	"order of keys and columns": {
		"SELECT sex, smoker, COUNT(*), SUM(age) FROM patients GROUP BY sex, smoker",
		"SELECT SUM(age), COUNT(*) AS n, smoker FROM patients GROUP BY smoker, sex, smoker",
		"SELECT COUNT(*), SUM(age), COUNT(*), sex, smoker FROM patients GROUP BY 5, 4",
	},
	"above the noise": {
		"SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex",
		"SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex ORDER BY 2 DESC LIMIT 1 OFFSET 1",
		"SELECT sex, COUNT(*), SUM(age) FROM patients GROUP BY sex HAVING COUNT(*) > 10 AND SUM(age) < 5",
		"SELECT COUNT(*) FROM patients GROUP BY sex ORDER BY SUM(age) / COUNT(*)",
	},
	"an average of what is there": {"SELECT SUM(age), COUNT(*) FROM patients", "SELECT AVG(age), SUM(age) FROM patients"},
	"whole numbers": {
		"SELECT COUNT(*) FROM patients WHERE age >= 40",
		"SELECT COUNT(*) FROM patients WHERE age > 39",
		"SELECT COUNT(*) FROM patients WHERE age > 39.5",
		"SELECT COUNT(*) FROM patients WHERE NOT (age < 40)",
		"SELECT COUNT(*) FROM patients WHERE NOT 39.01 >= age",
		"SELECT COUNT(*) FROM patients WHERE age + 0 >= 40 AND 1 * age >= 40",
	},
	"days": {
		"SELECT COUNT(*) FROM patients WHERE born >= '2000-01-01'",
		"SELECT COUNT(*) FROM patients WHERE born > '1999-12-31'",
	},
	"beyond the bounds, and weaker than another": {
		"SELECT COUNT(*) FROM patients WHERE age >= 40",
		"SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 AND 110",
		"SELECT COUNT(*) FROM patients WHERE age >= 40 AND age <= 500 AND age >= 0",
		"SELECT COUNT(*) FROM patients WHERE age >= 40 AND age > 20",
		"SELECT COUNT(*) FROM patients WHERE age IS NOT NULL AND age >= 40",
		"SELECT COUNT(*) FROM patients WHERE age >= 40 OR age > 500",
		"SELECT COUNT(*) FROM patients WHERE age >= 40 OR age >= 50",
		"SELECT COUNT(*) FROM patients WHERE (age >= 40) IS TRUE",
		"SELECT COUNT(*) FROM patients WHERE (age >= 40) = true",
		"SELECT COUNT(*) FROM patients WHERE coalesce(age >= 40, false)",
		"SELECT COUNT(*) FROM patients WHERE CASE WHEN age >= 40 THEN true ELSE false END",
	},
	"one point": {
		"SELECT COUNT(*) FROM patients WHERE age = 40",
		"SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 AND 40",
		"SELECT COUNT(*) FROM patients WHERE age > 39 AND age < 41",
	},
	"never": {
		"SELECT COUNT(*) FROM patients WHERE false",
		"SELECT COUNT(*) FROM patients WHERE NULL",
		"SELECT COUNT(*) FROM patients WHERE age > 500",
		"SELECT COUNT(*) FROM patients WHERE age = -1",
	},
	"a value at all": {
		"SELECT COUNT(*) FROM patients WHERE cost IS NOT NULL",
		"SELECT COUNT(*) FROM patients WHERE cost >= 0",
		"SELECT COUNT(*) FROM patients WHERE cost <> -1",
	},
	"truths": {
		"SELECT COUNT(*) FROM patients WHERE smoker",
		"SELECT COUNT(*) FROM patients WHERE smoker = true",
		"SELECT COUNT(*) FROM patients WHERE smoker IS TRUE",
		"SELECT COUNT(*) FROM patients WHERE smoker <> false",
		"SELECT COUNT(*) FROM patients WHERE smoker AND smoker IS NOT NULL",
	},
	"and their opposites": {
		"SELECT COUNT(*) FROM patients WHERE NOT smoker",
		"SELECT COUNT(*) FROM patients WHERE smoker = false",
		"SELECT COUNT(*) FROM patients WHERE smoker IS FALSE",
	},
	"lists and OR": {
		"SELECT COUNT(*) FROM patients WHERE balance IN (1, 2)",
		"SELECT COUNT(*) FROM patients WHERE balance = 1 OR balance = 2",
		"SELECT COUNT(*) FROM patients WHERE balance = 2 OR balance IN (1, 2)",
	},
	"lists and AND": {
		"SELECT COUNT(*) FROM patients WHERE balance NOT IN (1, 2)",
		"SELECT COUNT(*) FROM patients WHERE balance <> 1 AND balance <> 2",
		"SELECT COUNT(*) FROM patients WHERE NOT (balance = 1 OR balance = 2)",
	},
	"subqueries that name and filter": {
		"SELECT sex, COUNT(*), SUM(cost) FROM patients WHERE age >= 40 GROUP BY sex",
		"WITH p AS (SELECT * FROM patients) SELECT sex, COUNT(*), SUM(cost) FROM p WHERE age >= 40 GROUP BY sex",
		"WITH p AS (SELECT * FROM patients WHERE age >= 40) SELECT sex, COUNT(*), SUM(cost) FROM p GROUP BY sex",
		"SELECT SUM(c), s, COUNT(*) FROM (SELECT cost AS c, age AS a, sex AS s FROM patients) x WHERE a >= 40 GROUP BY s",
		"SELECT SUM(c), s, COUNT(*) FROM (SELECT a, c, s FROM (SELECT cost AS c, age AS a, sex AS s FROM patients WHERE age < 200) " +
			"y) x WHERE a >= 40 GROUP BY s",
	},
	"counts": {
		"SELECT COUNT(*) FROM patients WHERE age > 40",
		"SELECT COUNT(age) FROM patients WHERE age > 40",
		"SELECT SUM(1) FROM patients WHERE age > 40",
		"SELECT COUNT(*) FILTER (WHERE true) FROM patients WHERE age > 40",
	},
	"counts of some": {
		"SELECT COUNT(*) FILTER (WHERE smoker) FROM patients",
		"SELECT SUM(CASE WHEN smoker THEN 1 ELSE 0 END) FROM patients",
		"SELECT COUNT(CASE WHEN smoker THEN 1 END) FROM patients",
		"SELECT COUNT(CASE WHEN smoker THEN 'yes' END) FROM patients",
		"SELECT SUM(1) FILTER (WHERE smoker = true) FROM patients",
	},
	"sums of some": {
		"SELECT SUM(cost) FILTER (WHERE smoker) FROM patients",
		"SELECT SUM(CASE WHEN smoker THEN cost ELSE 0 END) FROM patients",
		"SELECT SUM(CASE WHEN smoker THEN cost END) FROM patients",
	},
	"sides of a join": {
		"SELECT COUNT(*) FROM patients p JOIN visits v ON p.pid = v.pid",
		"SELECT COUNT(*) FROM patients a JOIN visits b ON b.pid = a.pid",
		"SELECT COUNT(*) FROM patients JOIN visits USING (pid)",
	},
	"sums either way": {"SELECT SUM(age + cost) FROM patients", "SELECT SUM(cost + age) FROM patients"},
	"inside other lattices": {
		"SELECT COUNT(*) FROM patients WHERE age + (1 + 1) < 5.5",
		"SELECT COUNT(*) FROM patients WHERE 5.5 > age + 2",
	},
}

// TestSameQuestion lists spellings of one question. An answer already paid for
// is given again for free, so spellings must not be charged twice.
func TestSameQuestion(t *testing.T) {
	ds := hospital(t)
	for name, spellings := range sameQuestions {
		want := prepare(t, ds, spellings[0]).Query
		for _, s := range spellings[1:] {
			if got := prepare(t, ds, s).Query; got.Hash() != want.Hash() {
				t.Errorf("%s: %s\n%s\nbut %s\n%s", name, spellings[0], want.Format(), s, got.Format())
			}
		}
	}
}

// TestOtherQuestion lists questions that differ in what they ask. A shared hash
// would give one the other's answer.
func TestOtherQuestion(t *testing.T) {
	ds := hospital(t)
	seen := map[string]string{}
	for _, text := range []string{
		"SELECT COUNT(*) FROM patients",
		"SELECT COUNT(*) FROM visits",
		"SELECT COUNT(cost) FROM patients",
		"SELECT COUNT(DISTINCT cost) FROM patients",
		"SELECT COUNT(DISTINCT pid) FROM patients",
		"SELECT SUM(age) FROM patients",
		"SELECT AVG(age) FROM patients",
		"SELECT SUM(-age) FROM patients",
		"SELECT COUNT(*), SUM(age) FROM patients",
		"SELECT COUNT(*) FROM patients WHERE age > 40",
		"SELECT COUNT(*) FROM patients WHERE age > 41",
		"SELECT COUNT(*) FROM patients WHERE age >= 40",
		"SELECT COUNT(*) FROM patients WHERE age < 40",
		"SELECT COUNT(*) FROM patients WHERE NOT age > 40",
		"SELECT COUNT(*) FROM patients WHERE age > 40 OR age IS NULL",
		"SELECT COUNT(*) FROM patients WHERE cost > 40",
		"SELECT COUNT(*) FROM patients WHERE weight > 40",
		"SELECT COUNT(*) FROM patients WHERE age > 40 AND smoker",
		"SELECT COUNT(*) FROM patients WHERE age > 40 OR smoker",
		"SELECT COUNT(*) FROM patients WHERE smoker",
		"SELECT COUNT(*) FROM patients WHERE smoker IS NOT FALSE",
		"SELECT COUNT(*) FROM patients WHERE smoker IS NOT NULL",
		"SELECT COUNT(*) FROM patients WHERE false",
		"SELECT COUNT(*) FROM patients p LEFT JOIN visits v USING (pid) WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = p.pid) = 0",
		"SELECT COUNT(*) FROM patients p LEFT JOIN visits v USING (pid) WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = v.pid) = 0",
		"SELECT COUNT(*) FROM patients p FULL JOIN visits v USING (pid) WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = v.pid) = 0",
		"SELECT COUNT(*) FROM patients p FULL JOIN visits v USING (pid) WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = p.pid) = 0",
		"SELECT COUNT(*) FROM orders o WHERE (SELECT COUNT(*) FROM patients p LEFT JOIN visits v USING (pid) WHERE p.pid = o.customer) = 0",
		"SELECT COUNT(*) FROM orders o WHERE (SELECT COUNT(*) FROM patients p LEFT JOIN visits v USING (pid) WHERE v.pid = o.customer) = 0",
		"SELECT COUNT(*) FROM patients WHERE age - 1 > balance",
		"SELECT COUNT(*) FROM patients WHERE 1 - age > balance",
		"SELECT COUNT(*) FROM patients WHERE age / 2 > balance",
		"SELECT COUNT(*) FROM patients WHERE age % 2 > balance",
		"SELECT COUNT(*) FROM patients WHERE sex = 'F'",
		"SELECT COUNT(*) FROM patients WHERE sex = 'f'",
		"SELECT COUNT(*) FROM patients WHERE sex = 'F '",
		"SELECT COUNT(*) FROM patients WHERE zip = 'F'",
		"SELECT COUNT(*) FROM patients WHERE sex = 'null'",
		"SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'M')",
		"SELECT COUNT(*) FROM patients WHERE sex IN ('F M', 'M')",
		`SELECT COUNT(*) FROM patients WHERE sex IN ('F" "M', 'M')`,
		"SELECT COUNT(*) FROM patients WHERE born = '2000-01-01'",
		"SELECT COUNT(*) FROM patients WHERE zip = '2000-01-01'",
		"SELECT COUNT(*) FROM patients GROUP BY sex",
		"SELECT COUNT(*) FROM patients GROUP BY sex, smoker",
		"SELECT COUNT(*) FROM patients GROUP BY admitted",
		"SELECT COUNT(*) FROM visits GROUP BY ward",
		"SELECT SUM(CAST(zip AS numeric(5,0))) FROM patients",
		"SELECT SUM(CAST(zip AS numeric(5,1))) FROM patients",
		"SELECT SUM(CAST(weight AS numeric(5,0))) FROM patients",
		"SELECT SUM(CAST(weight AS numeric(5,1))) FROM patients",
		"SELECT SUM(round(cost)) FROM patients",
		"SELECT SUM(round(cost, 1)) FROM patients",
		"SELECT SUM(floor(cost)) FROM patients",
		"SELECT SUM(CASE WHEN smoker THEN age END) FROM patients",
		"SELECT AVG(CASE WHEN smoker THEN age END) FROM patients",
		"SELECT AVG(CASE WHEN smoker THEN age ELSE 0 END) FROM patients",
		"SELECT SUM(CASE WHEN smoker THEN age ELSE 1 END) FROM patients",
		"SELECT COUNT(*) FROM patients WHERE zip LIKE 'a%'",
		"SELECT COUNT(*) FROM patients WHERE zip LIKE 'a_'",
		"SELECT COUNT(*) FROM patients WHERE zip LIKE 'a\\%'",
		"SELECT COUNT(*) FROM patients WHERE zip ILIKE 'a%'",
		"SELECT COUNT(*) FROM patients WHERE age / 2.0 > balance",
		"SELECT COUNT(*) FROM patients WHERE extract(month from born) = 1",
		"SELECT COUNT(*) FROM patients WHERE extract(day from born) = 1",
		"SELECT COUNT(*) FROM patients WHERE born + INTERVAL '1 month' > admitted",
		"SELECT COUNT(*) FROM patients WHERE born + INTERVAL '1 day' > admitted",
	} {
		h := prepare(t, ds, text).Query.Hash()
		if first, ok := seen[h]; ok {
			t.Errorf("%s\nhas the hash of\n%s", text, first)
		}
		seen[h] = text
	}
}

// TestOtherPolicy changes one word of the policy at a time. Where it changes what a
// question means, or how far one person moves it, the hash changes.
func TestOtherPolicy(t *testing.T) {
	const people = "SELECT sex, COUNT(*), SUM(cost) FROM patients WHERE admitted > '2024-01-01' GROUP BY sex"
	const visits = "SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward"
	for _, c := range []struct{ question, old, new string }{
		{people, "bounds: [0, 50000]", "bounds: [0, 50001]"},
		{people, "bounds: [0, 50000]", "bounds: [-1, 50000]"},
		{people, "bounds: [0, 50000], granularity: 0.01", "bounds: [0, 50000], granularity: 0.1"},
		{people, "[2024-01-01, 2024-01-03]", "[2024-01-01, 2024-01-04]"},
		{people, "keys: [F, M, X, null]", "keys: [F, M, X]"},
		{people, "keys: [F, M, X, null]", "keys: [F, M, X, 'null']"},
		{people, "keys: [F, M, X, null]", "keys: [F, M, 'X null']"},
		{people, "keys: [F, M, X, null]", "keys: [M, F, X, null]"},
		{people, "neighbours: add-remove", "neighbours: substitute"},
		{people, "unique: pid", "{max_rows: 1, max_groups: 1}"},
		{people, "hospital:\n", "clinic:\n"},
		{visits, "max_rows: 50", "max_rows: 51"},
		{visits, "max_groups: 5", "max_groups: 6"},
		{visits, "path: pid -> patients.pid", "path: patient -> patients.pid"},
		{visits, "bounds: [0, 5000], granularity: 0.01", "bounds: [0, 5000], granularity: 0.01, nullable: false"},
	} {
		text, err := os.ReadFile("testdata/hospital.yaml")
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if strings.HasPrefix(c.new, "{") { // several keys in place of one
			changed = strings.Replace(string(text), c.old, strings.ReplaceAll(strings.Trim(c.new, "{}"), ", ", "\n        "), 1)
		}
		if changed == string(text) {
			t.Fatalf("the policy has no %q", c.old)
		}
		var hashes []string
		for _, text := range []string{string(text), changed} {
			p, err := policy.Parse("p.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, ds := range p.Datasets {
				hashes = append(hashes, prepare(t, ds, c.question).Query.Hash())
			}
		}
		if hashes[0] == hashes[1] {
			t.Errorf("%s instead of %s changes nothing", c.new, c.old)
		}
	}
}

// TestHashIsStable pins a hash: ledgers hold hashes, and one that changes with a
// version makes everybody pay again.
func TestHashIsStable(t *testing.T) {
	const want = "f408264c03837d79a69013de66b0416fc9a9617c0ec62d0c26229fb3172e4d3b"
	if got := prepare(t, hospital(t), "SELECT sex, COUNT(*), AVG(cost) FROM patients WHERE age > 40 "+
		"GROUP BY sex").Query.Hash(); got != want {
		t.Errorf("the hash is %s", got)
	}
}
