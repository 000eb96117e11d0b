package lockstep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// trinoEveryType has a column of each type that Trino has and that can be read.
const trinoEveryType = "pid bigint, b boolean, i2 smallint, i4 integer, i8 bigint, i1 tinyint, f4 real, f8 double, d decimal(20,8), " +
	"wide decimal(38,6), huge decimal(38,0), tiny decimal(38,38), t varchar, v varchar(20), c char(5), u uuid, " +
	"day date, ts timestamp(6), " +
	"tp timestamp(12), tz timestamp(12) with time zone"

// trinoPeople are rows at the end of what there is, of one person.
var trinoPeople = map[string][]string{
	"endless and no numbers": {
		"INSERT INTO people (pid, f4, f8, t, v, c) SELECT 37, CAST(nan() AS real), infinity(), " +
			"array_join(repeat('xxxxxxxxxx', 10000), ''), " +
			"'', ''",
		"INSERT INTO events SELECT 37, NULL, NULL, array_join(repeat('yyyyyyyyyy', 10000), '') FROM UNNEST(sequence(1, 40))",
	},
	"as small as can be": {
		"INSERT INTO people SELECT BIGINT '-9223372036854775808', false, SMALLINT '-32768', INTEGER '-2147483648', BIGINT " +
			"'-9223372036854775808', TINYINT '-128', REAL '-1.4e-45', DOUBLE '-4.9e-324', DECIMAL '-999999999999.99999999', " +
			"DECIMAL '-99999999999999999999999999999999.999999', DECIMAL '-99999999999999999999999999999999999999', " +
			"DECIMAL '-0.99999999999999999999999999999999999999', '', ' ', ' ', UUID '00000000-0000-0000-0000-000000000000', " +
			"DATE '-5877641-06-23', date_add('millisecond', -700, TIMESTAMP '-290308-12-21 19:59:06.000000'), " +
			"date_add('millisecond', -700, TIMESTAMP '-290308-12-21 19:59:06.000000000000'), " +
			"TIMESTAMP '-69387-04-22 03:45:14.752000000000 UTC'",
		"INSERT INTO events SELECT -9223372036854775808, DATE '-5877641-06-23', -9999999999.99, chr(1) FROM UNNEST(sequence(1, 300))",
	},
	"as large as can be": {
		"INSERT INTO people SELECT BIGINT '9223372036854775807', true, SMALLINT '32767', INTEGER '2147483647', BIGINT " +
			"'9223372036854775807', TINYINT '127', REAL '3.4028235e38', DOUBLE '1.7976931348623157e308', DECIMAL " +
			"'999999999999.99999999', " +
			"DECIMAL '99999999999999999999999999999999.999999', DECIMAL '99999999999999999999999999999999999999', " +
			"DECIMAL '0.99999999999999999999999999999999999999', array_join(repeat(chr(1114111), 10000), ''), 'bbbbbbbbbbbbbbbbbbbb', " +
			"'ccccc', UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff', DATE '5881580-07-11', TIMESTAMP '294247-01-10 04:00:54.775807', " +
			"TIMESTAMP '294247-01-10 04:00:54.775807999999', TIMESTAMP '73326-09-11 20:14:45.247999999999 UTC'",
		"INSERT INTO events SELECT 9223372036854775807, DATE '9999-12-31', 9999999999.99, chr(CAST(i AS bigint)) FROM " +
			"UNNEST(sequence(1, 300)) AS s(i)",
	},
	"minus nothing": {
		"INSERT INTO people (pid, f4, f8, t, day, ts, tz) SELECT 0, REAL '-0', DOUBLE '-0', from_utf8(X'007fe2808be280ae2722'), " +
			"DATE '0001-01-01', TIMESTAMP '0001-01-01 00:00:00', TIMESTAMP '9999-12-31 23:59:59.999999 -13:59'",
		"INSERT INTO events (pid) SELECT 0 FROM UNNEST(sequence(1, 300))",
	},
	"no text": {
		"INSERT INTO people (pid, t, v, c) SELECT 41, k, CAST(k AS varchar(20)), CAST(k AS char(5)) FROM wild",
		"INSERT INTO events (pid, ward) SELECT 41, k FROM wild CROSS JOIN UNNEST(sequence(1, 30))",
	},
	"nobody": {
		"INSERT INTO people (pid, i4) SELECT NULL, 1",
		"INSERT INTO events SELECT NULL, DATE '2020-01-01', 1, 'a'", "INSERT INTO events SELECT 99, NULL, 1, 'a'",
	},
}

// trinoCopies are the columns of people as another catalog can have them. Times of Trino's that
// Parquet may not hold are none there.
var trinoCopies = map[string]string{
	"hive": "pid, b, i2, i4, i8, i1, f4, f8, d, wide, huge, tiny, t, v, c, CAST(u AS varchar) AS u, " + trinoDay +
		", CAST(" + trinoWithin("ts") + " AS timestamp(3)) AS ts, CAST(" + trinoWithin("tp") + " AS timestamp(3)) AS tp, " +
		"CAST(" + trinoWithin("tz AT TIME ZONE 'UTC'") + " AS timestamp(3)) AS tz, ARRAY[pid] AS a1, map(ARRAY['a'], ARRAY[t]) AS a2",
	"iceberg": "pid, b, CAST(i2 AS integer) AS i2, i4, i8, CAST(i1 AS integer) AS i1, f4, f8, d, wide, huge, tiny, t, v, " +
		"CAST(c AS varchar) AS c, u, " + trinoDay + ", " + trinoWithin("ts") + " AS ts, CAST(" + trinoWithin("tp") +
		" AS timestamp(6)) AS tp, CAST(" + trinoWithin("tz") + " AS timestamp(6) with time zone) AS tz, CAST(ROW(t, f8) AS " +
		"row(a varchar, b double)) AS a1",
}

const trinoDay = "IF(day BETWEEN DATE '0001-01-01' AND DATE '9999-12-31', day) AS day"

func trinoWithin(x string) string {
	return "IF(" + x + " BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59', " + x + ")"
}

const trinoEveryPolicy = `  clinic:
    source: %s
    refresh: 24h
    unit: people.pid
    budget: {epsilon: 100, delta: 1e-6}
    analysts: {ana: {share: 1}}
    tables:
      people:
        trusted: true
        unique: pid
        columns:
          pid: {type: integer}
          b: {type: boolean}
          i2: {type: integer, bounds: [-40000, 40000], granularity: 1000}
          i4: {type: integer, bounds: [0, 10]}
          i8: {type: integer}
          i1: {type: integer, bounds: [-200, 200]}
          f4: {type: decimal, bounds: [-1, 10], granularity: 0.5}
          f8: {type: decimal, bounds: [-1, 10], granularity: 0.5}
          d: {type: decimal, bounds: [-5, 90], granularity: 0.01}
          wide: {type: decimal, bounds: [-1000, 1000], granularity: 0.5}
          huge: {type: integer, bounds: [-5, 5]}
          tiny: {type: decimal, bounds: [-0.1, 0.1], granularity: 0.00001}
          t: {type: text, keys: [a, b, ""]}
          v: {type: text, keys: [b, " ", ""]}
          c: {type: text, keys: [c, ""]}
          u: {type: text, keys: ["00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"]}
          day: {type: date}
          ts: {type: timestamp}
          tp: {type: timestamp, bounds: ["1700-01-01", "2200-12-31"]}
          tz: {type: timestamp}
      events:
        trusted: true
        path: pid -> people.pid
        max_rows: 3
        max_groups: 2
        columns:
          day: {type: date, bounds: ["2019-12-30", "2020-01-03"]}
          cost: {type: decimal, bounds: [-5, 90], granularity: 0.01}
          ward: {type: text, keys: [a, b]}
`

// trinoExpressions are what values at the end of what there is can break in Trino.
var trinoExpressions = append([]string{
	"SELECT COUNT(*) FROM people WHERE date_trunc('month', ts) < TIMESTAMP '2020-01-01'",
	"SELECT COUNT(*) FROM people WHERE ts + INTERVAL '1' MONTH > tp", "SELECT COUNT(*) FROM people WHERE EXTRACT(second FROM ts) > 5",
	"SELECT COUNT(*) FROM people WHERE EXTRACT(isoyear FROM tz) > 5 OR EXTRACT(doy FROM tp) > 3",
	"SELECT COUNT(*) FROM people WHERE CAST(ts AS DATE) > day", "SELECT COUNT(*) FROM people WHERE CAST(day AS TIMESTAMP) < ts",
	"SELECT COUNT(*) FROM people WHERE day - DATE '2000-01-01' > 5", "SELECT COUNT(*) FROM people WHERE CAST(ts AS TEXT) > '2'",
	"SELECT COUNT(*) FROM people WHERE day + INTERVAL '2' YEAR > DATE '2020-01-01'", "SELECT SUM(huge * i4) FROM people",
	"SELECT COUNT(*) FROM people WHERE i8 * i8 > i8 - 1", "SELECT COUNT(*) FROM people WHERE i8 / i4 > 1 OR i8 % i4 = 0",
	"SELECT COUNT(*) FROM people WHERE abs(i8) > 3", "SELECT COUNT(*) FROM people WHERE round(f8, 3) > 0 AND power(d, 9) > 2",
	"SELECT COUNT(*) FROM people WHERE t LIKE '%x%y%' OR t ~ '(x+)y' OR replace(t, 'x', 'yy') = 'y'",
	"SELECT COUNT(*) FROM people WHERE reverse(t) = lpad(v, 30, t) OR repeat(v, 3) = t OR upper(t) = lower(t)",
	"SELECT COUNT(*) FROM people WHERE CAST(t AS DATE) > day OR CAST(t AS TIMESTAMP) > ts OR CAST(t AS NUMERIC) > 1",
}, expressions...)

// TestHostilePeopleOnTrino: what somebody has in their rows, in the types of Trino, decides neither
// whether a question ends nor what is said, charged and drawn. One of them is in one catalog every
// day; in eighteen days everybody was in each.
func TestHostilePeopleOnTrino(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	c := testtrino.Shared(t)
	catalogs, people := []string{"memory", "hive", "iceberg"}, slices.Sorted(maps.Keys(trinoPeople))
	turn, part := daily.Turn(len(catalogs)*len(people)), daily.Choices(t).Below(trinoParts)
	if !daily.Full() {
		at, who := turn%len(catalogs), turn/len(catalogs)
		catalogs, people = catalogs[at:at+1], people[who:who+1]
	}
	for _, catalog := range catalogs {
		t.Run(catalog, func(t *testing.T) { // in one after the other, since who reads a schema alone may read that of this name in all
			without := trinoDatabase(t, c, catalog, nil)
			for _, who := range people {
				t.Run(who, func(t *testing.T) {
					hostileOnTrino(t, Pair{Name: who, A: trinoDatabase(t, c, catalog, trinoPeople[who]), B: without}, part)
				})
			}
		})
	}
}

// trinoTables makes tables in a schema of the memory, with somebody in them or not.
func trinoTables(t *testing.T, c *testtrino.Cluster, schema string, more []string) {
	t.Helper()
	wild := ""
	run := func(statement string) {
		for _, name := range []string{"people", "events"} {
			statement = strings.Replace(statement, " "+name+" ", " memory."+schema+"."+name+" ", 1)
		}
		if strings.Contains(statement, " wild") && wild == "" { // bytes that are no text, which only a file can bring
			in := "hive." + c.Schema(t, "hive")
			c.Run(t, "CREATE TABLE "+in+".raw AS SELECT X'61ffc3' AS k")
			at := c.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+in+".raw")[0][0]
			c.Run(t, "CREATE TABLE "+in+".wild (k varchar) WITH (external_location = '"+at+"')")
			wild = " " + in + ".wild"
		}
		c.Run(t, strings.Replace(statement, " wild", wild, 1))
	}
	run("CREATE TABLE people (" + trinoEveryType + ")")
	run("CREATE TABLE events (pid bigint, day date, cost decimal(12,2), ward varchar)")
	run("INSERT INTO people (pid, b, i2, i4, i8, f8, d, t, day, ts) SELECT i, i % 2 = 0, i, i, i, i, i, 'a', DATE '2020-01-01', " +
		"TIMESTAMP '2020-01-01 10:00' FROM UNNEST(sequence(1, 5)) AS s(i)")
	run("INSERT INTO events SELECT i % 5 + 1, DATE '2020-01-01', i, 'a' FROM UNNEST(sequence(1, 20)) AS s(i)")
	for _, statement := range more {
		run(statement)
	}
}

// trinoDatabase is one with somebody in it, or without, in a catalog.
func trinoDatabase(t *testing.T, c *testtrino.Cluster, catalog string, more []string) Database {
	t.Helper()
	user := c.Alone(t, catalog)
	schema := user
	if catalog != "memory" {
		schema = c.Schema(t, "memory")
	}
	trinoTables(t, c, schema, more)
	if catalog != "memory" {
		c.Run(t, "CREATE TABLE "+catalog+"."+user+".people AS SELECT "+trinoCopies[catalog]+" FROM memory."+schema+".people",
			"CREATE TABLE "+catalog+"."+user+".events AS SELECT * FROM memory."+schema+".events")
	}
	ds := payable(onlyDataset(t, fmt.Sprintf(trinoEveryPolicy, c.Address(user, catalog, user))))
	e := must(trino.Open(t.Context(), ds))
	t.Cleanup(func() { e.Close() })
	return Database{ds, e}
}

// trinoParts is how many parts the questions of the corpus have; of the expressions there are
// fewer.
const trinoParts = 42

// partOnTrino asks how many people there are, which everybody moves, and a part of what else is
// asked.
func partOnTrino(ds *policy.Dataset, part int) []*tally {
	tallies := []*tally{{question: "SELECT COUNT(*) FROM people"}}
	for i, q := range append(slices.Clone(trinoExpressions), Corpus(ds)...) {
		if daily.Full() || i%trinoParts == part || i < len(trinoExpressions) && i%6 == part%6 {
			tallies = append(tallies, &tally{question: q})
		}
	}
	return tallies
}

// hostileOnTrino asks whether somebody is in a database: all questions, or some.
func hostileOnTrino(t *testing.T, p Pair, part int) {
	tallies := partOnTrino(p.A.Dataset, part)
	for _, y := range tallies {
		y.try(t.Context(), nil, p, 1)
	}
	moved := 1
	if p.Name == "nobody" {
		moved = 0
	}
	reportFindings(t, p.Name, tallies, len(tallies)/2, moved)
}
