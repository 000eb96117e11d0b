package duckdb

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/sqlgen"
)

// TestCheck makes each finding appear, and disappear when the data is right.
func TestCheck(t *testing.T) {
	const good = "u,i,d,n\n1,5,0.5,1\n2,6,,2\n3,7,1.5,3\n"
	const unique = `
source: t.csv
unit: t.u
tables:
  t:
    unique: u
    columns:
      i: {type: integer, bounds: [0, 10]}
      d: {type: decimal, bounds: [-1, 2], granularity: 0.5}
      n: {type: integer, nullable: false}
`
	many := strings.Replace(unique, "unique: u", "max_rows: 2\n    max_groups: 1", 1)
	for name, c := range map[string]struct{ keys, data, column, text string }{
		"good":               {unique, good, "", ""},
		"good, many rows":    {many, good + "3,8,1.5,3\n", "", ""},
		"not unique":         {unique, good + "3,8,1.5,3\n", "u", "THE GUARANTEE DOES NOT HOLD"},
		"nobody":             {many, good + ",8,1.5,3\n", "u", "many of the rows (1) belong to nobody"},
		"wrong type":         {unique, good + "4,abc,1.5,3\n", "i", "many of the values are not integer; they count as NULL"},
		"all of wrong type":  {unique, "u,i,d,n\n1,x,0.5,1\n2,y,1,1\n", "i", "all of the values are not integer"},
		"most of wrong type": {unique, "u,i,d,n\n1,x,0.5,1\n2,y,1,1\n3,4,1,1\n", "i", "most of the values are not integer"},
		"beyond the bounds":  {unique, good + "4,11,1.5,3\n", "i", "many of the values are beyond the bounds"},
		"below the bounds":   {unique, good + "4,9,-1.5,3\n", "d", "many of the values are beyond the bounds"},
		"unexpected NULL":    {unique, good + "4,9,1.5,\n", "n", "there are NULLs"},
		"a missing field":    {unique, good + "4,9\n", "", "line 5 has 2 values, but the header has 4. These lines are not rows"},
		"not UTF-8":          {unique, good + "4,9,\xe9,3\n", "", "line 5 is not UTF-8. These lines are not rows"},
		"one in a hundred":   {many, good + strings.Repeat("9,1,1,1\n", 100) + "4,xyzzy,1,1\n", "i", "some of the values are not integer"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "t.csv", c.data)
			found := must(check(t, dataset(t, folder, c.keys)))(t)
			if c.text == "" {
				if len(found) > 0 {
					t.Errorf("%+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Table != "t" || found[0].Column != c.column || !strings.Contains(found[0].Text, c.text) {
				t.Fatalf("%+v", found)
			}
			if unread := strings.HasPrefix(name, "all of") || strings.HasPrefix(name, "most of"); found[0].Unread != unread {
				t.Errorf("%+v", found)
			}
			if found[0].Broken != (name == "not unique") {
				t.Errorf("%+v", found)
			}
			for _, value := range []string{"abc", "xyzzy", "11", "1.5"} {
				if strings.Contains(found[0].Text, value) {
					t.Errorf("it quotes a value: %+v", found[0])
				}
			}
		})
	}
}

// TestCheckStored looks at stores with types, where a wrong type is an error of Open's, and
// a value can still be beyond 64 bits.
func TestCheckStored(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT unnest([1, 2, "+
		"170141183460469231731687303715884105727::HUGEINT]) AS i, unnest([1, 2, 2]) AS u")
	found, err := check(t, dataset(t, folder, "source: t.duckdb\nunit: t.u\ntables: {t: {unique: u, columns: {i: {type: "+
		"integer}}}}"))
	if err != nil || len(found) != 2 || !found[0].Broken || found[1].Broken || found[1].Column != "i" {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestNoColumns: a policy may list no column. Then rows can be counted.
func TestNoColumns(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "i\n1\n2\n")
	owner(t, "", "COPY (SELECT unnest([1, 2]) AS i) TO "+sqlgen.QuoteText(filepath.Join(folder, "t.parquet")))
	for _, source := range []string{"t.csv", "t.parquet"} {
		ds := dataset(t, folder, "source: "+source+"\nunit: row\ntables: {t: {columns: {}}}")
		if found, err := check(t, ds); err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %v", source, found, err)
		}
		if got := ask(t, open(t, ds), "SELECT COUNT(*) FROM t"); got[0][0] != 2 {
			t.Errorf("%s: %v", source, got)
		}
	}
}

// TestCheckSpelling: a table in which nobody is of the unit's table is worth a word.
func TestCheckSpelling(t *testing.T) {
	for visits, want := range map[string]int{"pid\n1.0\n2.0\n": 1, "pid\n1.0\n2\n": 0, "pid\n": 0} {
		folder := t.TempDir()
		write(t, folder, "p.csv", "pid\n1\n2\n")
		write(t, folder, "v.csv", visits)
		found, err := check(t, dataset(t, folder, "source: .\nunit: p.pid\ntables: {p: {unique: pid, columns: {}}, v: {path: "+
			"pid -> p.pid, max_rows: 1, max_groups: 1, columns: {}}}"))
		if err != nil || len(found) != want || want == 1 && (found[0].Broken ||
			!strings.Contains(found[0].Text, "nobody in v.pid is in p.pid: are the ids spelt alike?")) {
			t.Errorf("%q: %+v, %v", visits, found, err)
		}
	}
}
