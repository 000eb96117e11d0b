package planner_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// missed is a value that a key has in some row, and not among its public values; NULL is left out,
// which mostly is no group.
func missed(t *testing.T, e *reference.Engine, q *tree.Query) string {
	t.Helper()
	found := *q
	found.Keys, found.Choice, found.Measures = slices.Clone(q.Keys), nil, []tree.Measure{{Kind: tree.CountRows}}
	found.RowLimit, found.GroupLimit = tree.MostRows, tree.MostRows
	for i := range found.Keys {
		found.Keys[i].Values, found.Keys[i].Private = nil, true
	}
	r, err := e.Run(context.Background(), &found)
	if err != nil {
		t.Fatal(err)
	}
	places := make([]int, r.Persons.Len())
	for i := range places {
		places[i] = i
	}
	for _, combination := range r.Combos.Pick(places) {
		for i, v := range combination {
			if !v.Null && !q.Keys[i].Private && !slices.ContainsFunc(q.Keys[i].Values, func(w policy.Value) bool {
				return !w.Null && w.Text == v.Text && w.Int == v.Int
			}) {
				return fmt.Sprintf("%q of %s", v.String(), q.Keys[i].Describe())
			}
		}
	}
	return ""
}

// listed reports whether the owner lists values of a column of a key, of which data may have more.
func listed(q *tree.Query) (found bool) {
	for _, k := range q.Keys {
		tree.Walk(k.Expr, func(x tree.Expr) {
			c, ok := x.(*tree.Column)
			found = found || ok && c.Field.Source != nil && c.Field.Source.Keys == policy.PublicKeys
		})
	}
	return found
}

// byPublic are questions with keys that come from public tables.
var byPublic = []string{
	"SELECT p.zip, COUNT(*) FROM patients p JOIN codes c ON c.label = p.zip GROUP BY p.zip",
	"SELECT p.zip, COUNT(*) FROM patients p JOIN codes c ON c.label = p.zip WHERE c.chapter = 1 GROUP BY p.zip",
	"SELECT c.label, COUNT(*) FROM patients p JOIN codes c ON c.code = p.code WHERE c.chapter < 2 GROUP BY c.label",
	"SELECT c.label, COUNT(*) FROM patients p LEFT JOIN codes c ON c.code = p.code AND c.chapter < 2 GROUP BY c.label",
	"SELECT c.label, COUNT(*) FROM patients p LEFT JOIN codes c ON c.code = p.code " +
		"WHERE c.chapter < 2 OR c.chapter IS NULL GROUP BY c.label",
	"SELECT p.code, COUNT(*) FROM patients p LEFT JOIN codes c ON c.code = p.code AND c.chapter < 2 GROUP BY p.code",
	"SELECT p.code, COUNT(*) FROM patients p JOIN codes c ON c.code = p.code AND c.chapter < 2 GROUP BY p.code",
	"SELECT c.code * 10 + c.chapter AS x, COUNT(*) FROM visits v JOIN codes c ON c.code = v.code GROUP BY x",
	"SELECT COALESCE(c.code, 7) * 10 + COALESCE(c.chapter, 0) AS x, COUNT(*) " +
		"FROM visits v LEFT JOIN codes c ON c.code = v.code GROUP BY x",
	"SELECT x, COUNT(*) FROM (SELECT COALESCE(c.code, 4) AS x, c.chapter AS y FROM visits v LEFT JOIN codes c ON c.code = v.code) AS t " +
		"WHERE y = 1 OR y IS NULL GROUP BY x",
	"SELECT p.code, COUNT(*) FROM patients p WHERE p.code IN (SELECT c.code FROM codes c WHERE c.chapter > 0) GROUP BY p.code",
	"SELECT p.code, COUNT(*) FROM patients p WHERE p.code NOT IN (SELECT c.code FROM codes c WHERE c.chapter > 0) GROUP BY p.code",
	"SELECT r.zone, r.rate, COUNT(*) FROM visits v JOIN rates r ON r.code = v.code JOIN codes c ON c.code = r.rate " +
		"WHERE c.chapter = 0 GROUP BY r.zone, r.rate",
	"SELECT v.code, COUNT(*) FROM visits v, patients p, rates r WHERE v.pid = p.pid AND v.code = p.code AND p.code = r.rate " +
		"AND r.code > 1 GROUP BY v.code",
}

// TestPublicKeys: no row has a key that is not among the public values that the planner has found
// for it, in public tables and elsewhere, but for those that the owner has left out of a list.
func TestPublicKeys(t *testing.T) {
	asked := 0
	try := func(db *generate.Database, text string) {
		e := reference.New(db.Dataset, db.Tables)
		st, err := generate.Prepare(db.Dataset, text, planner.Options{Public: e.Public()})
		if err != nil {
			return
		}
		for _, p := range st.Plans {
			q := &p.Query
			if q.ListsKeys() || len(q.PublicKeys()) == 0 || listed(q) {
				continue
			}
			asked++
			if v := missed(t, e, q); v != "" {
				t.Errorf("%s\n%s is not there in\n%s", text, v, q.Format())
			}
		}
	}
	for w, ds := range generate.Worlds() {
		maker := generate.NewMaker(ds, planner.Options{Public: reference.New(ds, nil).Public()})
		for _, seed := range daily.Sample(t, []uint64{0, 1, 2, 3, 4, 5, 6, 7}, 2) {
			d := generate.NewDice(fmt.Sprint("public ", w), seed)
			db := generate.Make(d, ds)
			for range 20 {
				try(db, maker.Question(d))
			}
			for _, text := range byPublic {
				if strings.HasPrefix(ds.Name, "clinic") {
					try(db, text)
				}
			}
		}
	}
	if asked < daily.Rounds(33, 200) {
		t.Errorf("only %d questions have such keys", asked)
	}
}

const keyWork = `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: t.pid
    budget: {epsilon: 10, delta: 1e-6}
    analysts: {ana: {}}
    tables:
      t:
        unique: pid
        columns:
          pid: {type: integer}
          n:   {type: integer, bounds: [-120, 130]}
          m:   {type: integer, bounds: [0, 250]}
          at:  {type: timestamp, bounds: ["1970-01-01 00:00:00", "1979-01-01 00:00:00"]}
          u:   {type: timestamp}
          q:   {type: integer, keys: private}
          w:   {type: integer}
`

// TestKeyWork: to find the values of keys takes a moment, whatever the keys are. It is free.
func TestKeyWork(t *testing.T) {
	ds := parsed(t, keyWork)
	repeat := func(n int, text, between string) string {
		return strings.TrimSuffix(strings.Repeat(text+between, n), between)
	}
	keys := func(n int, key string) string {
		var all []string
		for i := range n {
			all = append(all, strings.ReplaceAll(key, "#", string(rune('2'+i%7))+strings.Repeat("0", i/7)))
		}
		return strings.Join(all, ", ")
	}
	fields := "extract(hour from at) + extract(minute from at) + extract(day from at) + extract(dow from at) * #"
	for _, list := range daily.Sample(t, []string{
		keys(14, "("+repeat(40, "n * # - m", " + ")+") % 2"),
		keys(6, "("+repeat(10, fields, " + ")+") % 5"),
		keys(4, "left("+repeat(30, "to_char(at, 'YYYY-MM-DD HH24:MI')", " || ")+", #)"),
		keys(8, "CAST(("+repeat(4, "extract(hour from u) * # + extract(dow from u) * extract(month from u)", " + ")+") AS text)"),
	}, 2) {
		start := golden.CPUTime(t)
		_, err := planner.Prepare(ds, "SELECT COUNT(*) FROM t GROUP BY "+list, planner.Options{})
		if took := golden.CPUTime(t) - start; took > 15*time.Second {
			t.Errorf("%.60s took %v: %v", list, took, err)
		}
	}
}

// TestPrivateKeysInARange: a range does not list the values of a column whose values are private,
// and both checks think so.
func TestPrivateKeysInARange(t *testing.T) {
	ds := parsed(t, keyWork)
	for sql, private := range map[string]bool{
		"SELECT q, COUNT(*) FROM t WHERE q BETWEEN 1 AND 4 GROUP BY q":                                               true,
		"SELECT g, COUNT(*) FROM (SELECT pid, q AS g FROM t WHERE q BETWEEN 1 AND 4) AS s GROUP BY g":                true,
		"SELECT q, COUNT(*) FROM t WHERE q > 1 AND q IN (1, 4, 5) GROUP BY q":                                        false,
		"SELECT q % 3, COUNT(*) FROM t WHERE q BETWEEN 1 AND 4 GROUP BY 1":                                           false,
		"SELECT w, COUNT(*) FROM t WHERE w BETWEEN 1 AND 4 GROUP BY w":                                               false,
		"SELECT g, COUNT(*) FROM (SELECT pid, max(q) AS g FROM t WHERE q BETWEEN 1 AND 4 GROUP BY pid) s GROUP BY g": false,
	} {
		st, err := planner.Prepare(ds, sql, planner.Options{})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		q := &st.Plans[0].Query
		if q.Keys[0].Private != private {
			t.Errorf("%s: private is %v", sql, q.Keys[0].Private)
		}
		if err := verify.Query(ds, q); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

const clinic = `
datasets:
  clinic:
    engine: duckdb
    source: clinic.duckdb
    unit: people.pid
    budget: {epsilon: 10, delta: 1e-6}
    analysts: {ana: {}}
    tables:
      people:
        unique: pid
        columns:
          pid:   {type: integer}
          born:  {type: date, bounds: [1900-01-01, 2024-12-31]}
          died:  {type: date}
          seen:  {type: timestamp, bounds: ["2020-01-01 00:00:00", "2024-12-31 23:59:59.999999"]}
          left_at: {type: timestamp}
          cost:  {type: decimal, bounds: [0, 10000], granularity: 0.01}
          euros: {type: integer, bounds: [0, 10000]}
          score: {type: integer}
          fee:   {type: decimal, granularity: 0.01}
          bonus: {type: decimal, bounds: [0, 5000000], granularity: 0.01}
          share: {type: decimal}
          sex:   {type: text, keys: [F, M]}
          zip:   {type: text}
          code:  {type: integer, keys: private}
      visits:
        path: pid -> people.pid
        max_rows: 10
        max_groups: 3
        columns:
          day: {type: date}
          at:  {type: timestamp}
`

// TestProposedKeys: what the refusal of a decimal proposes to group by is accepted.
func TestProposedKeys(t *testing.T) {
	ds := parsed(t, clinic)
	for _, column := range []string{"cost", "fee", "bonus", "share"} {
		_, err := planner.Prepare(ds, "SELECT "+column+", COUNT(*) FROM people GROUP BY "+column, planner.Options{})
		var r *api.Refusal
		if !errors.As(err, &r) {
			t.Fatalf("%s: %v", column, err)
		}
		proposed := regexp.MustCompile(`(width_bucket|floor)\([^)]*\)|\w+ >= \d+`).FindAllString(r.Instead, -1)
		if len(proposed) == 0 {
			t.Errorf("%s: nothing is proposed: %s", column, r.Instead)
		}
		for _, key := range proposed {
			if _, err := planner.Prepare(ds, "SELECT "+key+", COUNT(*) FROM people GROUP BY 1", planner.Options{}); err != nil {
				t.Errorf("%s is proposed, and then refused: %v", key, err)
			}
		}
	}
}

// keysOf are the values of the only key of a question, as an answer shows them.
func keysOf(t testing.TB, ds *policy.Dataset, text string) []string {
	t.Helper()
	st, err := planner.Prepare(ds, text, planner.Options{})
	if err != nil {
		return []string{err.Error()}
	}
	q := &st.Plans[0].Query
	if err := verify.Query(ds, q); err != nil {
		return []string{err.Error()}
	}
	if len(q.Keys) != 1 || q.Keys[0].Private {
		return []string{fmt.Sprintf("%d keys, or a private one", len(q.Keys))}
	}
	var out []string
	for _, v := range q.Keys[0].Values {
		typ := q.Keys[0].Expr.Type()
		out = append(out, fmt.Sprint(expr.FromKey(v, typ)))
	}
	return out
}

// TestTimeKeys: what can be grouped by, into how many groups, and which are the first and the last.
func TestTimeKeys(t *testing.T) {
	ds := parsed(t, clinic)
	for _, x := range daily.Sample(t, []struct {
		where, key  string
		count       int
		first, last string
	}{
		{"", "date_trunc('month', born)", 1500, "1900-01-01", "2024-12-01"},
		{"born >= '2020-01-01'", "date_trunc('month', born)", 60, "2020-01-01", "2024-12-01"},
		{"born >= '2020-01-01' AND born < '2020-03-15'", "date_trunc('month', born)", 3, "2020-01-01", "2020-03-01"},
		{"born BETWEEN '2020-01-31' AND '2020-02-01'", "born", 2, "2020-01-31", "2020-02-01"},
		{"born IN ('2020-01-31', '2021-02-01', '2021-02-03')", "date_trunc('month', born)", 2, "2020-01-01", "2021-02-01"},
		{"born = '2020-01-31'", "extract(doy FROM born)", 1, "31", "31"},
		{"extract(year from born) = 2000", "date_trunc('quarter', born)", 4, "2000-01-01", "2000-10-01"},
		{"date_trunc('year', born) >= '2023-05-01'", "date_trunc('year', born)", 1, "2024-01-01", "2024-01-01"},
		{"born < '1901-01-01' OR born >= '2024-01-01'", "extract(year FROM born)", 125, "1900", "2024"},
		{"born < '1901-01-01' OR (born >= '1903-01-01' AND born <= '1903-12-31')", "extract(year FROM born)", 4, "1900", "1903"},
		{"NOT (born < '2024-01-01')", "extract(month FROM born)", 12, "1", "12"},
		{"NOT (born < '2024-11-05' OR born > '2024-12-01')", "extract(month FROM born)", 2, "11", "12"},
		{"died >= '2020-01-01' AND died < '2021-01-01'", "died", 366, "2020-01-01", "2020-12-31"},
		{"died >= '2020-01-01' AND died < '2021-01-01'", "date_trunc('week', died)", 53, "2019-12-30", "2020-12-28"},
		{"died >= '2020-01-01'", "died", 1, "no public keys", ""},
		{"died >= '2020-01-01' OR sex = 'F'", "date_trunc('year', died)", 1, "no public keys", ""},
		{"", "date_trunc('month', seen)", 60, "2020-01-01 00:00:00", "2024-12-01 00:00:00"},
		{"", "CAST(seen AS date)", 1827, "2020-01-01", "2024-12-31"},
		{"", "seen::date", 1827, "2020-01-01", "2024-12-31"},
		{"", "date_trunc('hour', seen)", 43848, "2020-01-01 00:00:00", "2024-12-31 23:00:00"},
		{"seen >= '2024-02-28' AND seen < '2024-03-01'", "date_trunc('hour', seen)", 48, "2024-02-28 00:00:00", "2024-02-29 23:00:00"},
		{"seen BETWEEN '2024-02-28 10:00:00.5' AND '2024-02-28 10:01:00'", "date_trunc('second', seen)", 61, "2024-02-28 10:00:00",
			"2024-02-28 10:01:00"},
		{"seen >= '2024-02-28' AND seen < '2024-02-28 01:00:00'", "floor(extract(epoch from seen)/300)*300", 12, "1709078400",
			"1709081700"},
		{"seen::date = '2024-02-29'", "extract(hour from seen)", 24, "0", "23"},
		{"seen::date = '2024-02-29' AND seen < '2024-02-29 02:30:00'", "extract(hour from seen)", 3, "0", "2"},
		{"", "extract(hour from seen)", 24, "0", "23"},
		{"", "extract(isodow from seen)", 7, "1", "7"},
		{"", "extract(year from left_at)", 1, "no public keys", ""},
		{"left_at > '1999-12-31 23:59:59' AND left_at <= '2000-01-01'", "extract(year from left_at)", 2, "1999", "2000"},
		{"", "FLOOR(cost/1000)*1000", 11, "0", "10000"},
		{"", "FLOOR(euros/1000)*1000", 11, "0", "10000"},
		{"", "euros/1000*1000", 11, "0", "10000"},
		{"cost < 2500", "FLOOR(cost/1000)*1000", 3, "0", "2000"},
		{"", "round(cost, -3)", 11, "0", "10"},
		{"", "width_bucket(cost, 0, 10000, 4)", 5, "1", "5"},
		{"score >= 10 AND score < 20", "score", 10, "10", "19"},
		{"score BETWEEN 10 AND 19", "score % 3", 3, "0", "2"},
		{"abs(score) < 5", "score", 1, "no public keys", ""},
		{"zip IN ('a', 'b')", "upper(zip)", 2, "A", "B"},
		{"code BETWEEN 1 AND 5", "code", 1, "0 keys", ""},
		{"seen >= '2024-02-28T00:00:00Z' AND seen < '2024-02-28T02:00:00+01:00'", "date_trunc('minute', seen)", 60, "2024-02-28 00:00:00",
			"2024-02-28 00:59:00"},
		{"seen >= timestamp with time zone '2024-02-28 00:00:00.000Z' AND seen < '2024-02-28 00:01'",
			"DATE_TRUNC('minute', seen) + INTERVAL '5 seconds' * FLOOR(EXTRACT(SECOND FROM seen) / 5)", 12, "2024-02-28 00:00:00",
			"2024-02-28 00:00:55"},
		{"seen >= to_timestamp('2024-02-28 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND seen < '2024-02-29'",
			"DATE_TRUNC('hour', seen) + INTERVAL '15 minutes' * FLOOR(EXTRACT(MINUTE FROM seen) / 15)", 96, "2024-02-28 00:00:00",
			"2024-02-28 23:45:00"},
		{"seen >= '2024-02-28' AND seen < '2024-02-29'", "to_timestamp(floor(extract(epoch from seen)/300)*300)", 288,
			"2024-02-28 00:00:00", "2024-02-28 23:55:00"},
		{"left_at >= '2024-02-28' AND left_at < '2024-02-29'", "to_timestamp(floor(extract(epoch from left_at)/300)*300)", 288,
			"2024-02-28 00:00:00", "2024-02-28 23:55:00"},
		{"seen >= '2024-02-28' AND seen < '2024-02-29'", "date_bin('15 minutes', seen, '2024-02-28 00:05:00')", 97, "2024-02-27 23:50:00",
			"2024-02-28 23:50:00"},
		{"", "date_bin(INTERVAL '7 days', seen, TIMESTAMP '2020-01-06')", 262, "2019-12-30 00:00:00", "2024-12-30 00:00:00"},
		{"born >= to_date('01.05.2024', 'DD.MM.YYYY')", "to_char(born, 'YYYY-MM')", 8, "2024-05", "2024-12"},
		{"", "to_char(seen, 'YYYY-MM')", 60, "2020-01", "2024-12"},
		{"", "to_char(seen, 'HH24')", 24, "00", "23"},
		{"", "to_char(born, 'FMMonth')", 12, "April", "September"},
		{"", "to_char(born, 'Dy')", 7, "Fri", "Wed"},
		{"", "to_char(seen, 'IYYY-\"W\"IW')", 262, "2020-W01", "2025-W01"},
		{"", "extract(decade from born)", 13, "190", "202"},
		{"", "extract(century from born)", 3, "19", "21"},
		{"", "date_trunc('decade', born)", 13, "1900-01-01", "2020-01-01"},
		{"", "date_trunc('century', born)", 3, "1801-01-01", "2001-01-01"},
		{"", "date_trunc('millennium', seen)", 1, "2001-01-01 00:00:00", "2001-01-01 00:00:00"},
		{"seen - TIMESTAMP '2024-12-30' > INTERVAL '1 day'", "CAST(seen AS date)", 1, "2024-12-31", "2024-12-31"},
		{"", "extract(year from age(DATE '2024-12-31', born))", 125, "0", "124"},
		{"", "(CAST(DATE_TRUNC('week', (born + INTERVAL '1 day')) AS timestamp) + INTERVAL '-1 day')", 6523, "1899-12-31 00:00:00",
			"2024-12-29 00:00:00"},
		{"born >= '2024-12-01'", "CAST(DATE_TRUNC('month', born) AS date)", 1, "2024-12-01", "2024-12-01"},
		{"", "(CAST(extract(dow from seen) AS integer) + 1)", 7, "1", "7"},
		{"born - DATE '2024-01-01' >= 0", "born", 366, "2024-01-01", "2024-12-31"},
		{"greatest(born, '2024-01-01') = '2024-01-01'", "extract(year from born)", 125, "1900", "2024"},
	}, 18) {
		text := "SELECT COUNT(*) FROM people GROUP BY " + x.key
		if x.where != "" {
			text = "SELECT COUNT(*) FROM people WHERE " + x.where + " GROUP BY " + x.key
		}
		got := keysOf(t, ds, text)
		if x.last == "" {
			if x.first == "0 keys" {
				x.first = "private"
			}
			if len(got) != 1 || !strings.Contains(got[0], x.first) {
				t.Errorf("%s: %d groups, %.200s", text, len(got), got[0])
			}
			continue
		}
		if len(got) != x.count || got[0] != x.first || got[len(got)-1] != x.last {
			t.Errorf("%s: %d groups from %s to %s, and not %d from %s to %s", text, len(got), got[0], got[len(got)-1], x.count, x.first,
				x.last)
		}
	}
}

// TestKeysOfSubqueries: what is public outside of a subquery is public of its columns too, and rows
// that it leaves out make no groups.
func TestKeysOfSubqueries(t *testing.T) {
	ds := parsed(t, clinic)
	for _, x := range [][2]string{
		{"SELECT k, COUNT(*) FROM (SELECT CASE WHEN cost < 10 THEN 'a' WHEN cost < 20 THEN 'b' ELSE 'c' END AS k FROM " +
			"people) t GROUP BY k",
			"a b c"},
		{"SELECT k, COUNT(*) FROM (SELECT CASE WHEN cost < 10 THEN 'a' ELSE sex END AS k FROM people) t GROUP BY k", "F M a"},
		{"SELECT upper(k), COUNT(*) FROM (SELECT CASE WHEN cost < 10 THEN 'a' ELSE 'b' END AS k FROM people) t GROUP BY 1",
			"A B"},
		{"SELECT y, COUNT(*) FROM (SELECT extract(year from d) AS y FROM (SELECT died AS d, cost FROM people WHERE died " +
			"BETWEEN '2019-05-01' AND '2021-01-01') a WHERE cost > 5) b WHERE y <> 2020 GROUP BY y",
			"2019 2021"},
		{"SELECT died, COUNT(*) FROM (SELECT died, CASE WHEN cost < 1 THEN 1 ELSE 2 END AS c FROM people WHERE died BETWEEN " +
			"'2019-05-01' AND '2019-05-02') a WHERE c = 1 GROUP BY died",
			"2019-05-01 2019-05-02"},
		{"SELECT date_trunc('month', m), COUNT(*) FROM (SELECT pid, MIN(day) AS m FROM visits WHERE day BETWEEN '2019-05-01' " +
			"AND '2019-06-02' GROUP BY pid) a GROUP BY 1",
			"2019-05-01 2019-06-01"},
		{"SELECT extract(year from v.day), COUNT(*) FROM people p LEFT JOIN visits v ON p.pid = v.pid AND v.day > " +
			"'2020-01-01' WHERE v.day BETWEEN '2019-12-31' AND '2021-05-01' GROUP BY 1",
			"2020 2021"},
		{"SELECT extract(year from born), COUNT(*) FROM people p LEFT JOIN visits v ON p.pid = v.pid AND p.born > " +
			"'1902-01-01' WHERE born < '1903-05-01' GROUP BY 1",
			"1900 1901 1902 1903"},
		{"SELECT y, COUNT(*) FROM (SELECT extract(year from born) AS y FROM people WHERE born < '1902-01-01' UNION ALL " +
			"SELECT 2050 FROM people) u GROUP BY y",
			"1900 1901 2050"},
	} {
		if got := strings.Join(keysOf(t, ds, x[0]), " "); got != x[1] {
			t.Errorf("%s: %s", x[0], got)
		}
	}
}

type noValues struct{}

func (noValues) Values(string, string, int) ([]policy.Value, error) { return nil, nil }
func (noValues) Most(string, []string) (int64, error)               { return 0, nil }
func (noValues) Rows(string, int) ([][]tree.Value, error)           { return nil, nil }

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
		if _, err := planner.Prepare(p.Datasets["d"], text, planner.Options{Public: noValues{}}); err == nil {
			t.Errorf("%s is not refused", text)
		}
	}
}
