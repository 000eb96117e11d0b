package duckdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// What init proposes keeps nearly all rows of people who have many, also where they are two steps
// away, and the check says what limits keep.
func TestProposedLimits(t *testing.T) {
	folder := t.TempDir()
	people, orders, items := "pid\n", "oid,pid,shop\n", "oid,what\n"
	for p := range 20 {
		people += fmt.Sprintf("%d\n", p)
		for o := range 90 + p {
			orders += fmt.Sprintf("%d,%d,s%d\n", 1000*p+o, p, o%8)
			items += fmt.Sprintf("%d,w%d\n%d,w%d\n", 1000*p+o, o%2, 1000*p+o, o%2)
		}
	}
	orders += "77777,,s1\n"
	write(t, folder, "people.csv", people)
	write(t, folder, "orders.csv", orders)
	write(t, folder, "items.csv", items)
	ds := dataset(t, folder, `unit: people.pid
tables:
  people: {source: people.csv, unique: pid, columns: {}}
  orders: {source: orders.csv, path: pid -> people.pid, max_rows: 10, max_groups: 3, columns: {shop: {type: text, keys: private}}}
  items: {source: items.csv, path: oid -> orders.oid, max_rows: 10, max_groups: 3, columns: {what: {type: text}}}
`)
	sizes, limits, err := ProposeLimits(t.Context(), ds, nil)
	if err != nil || sizes.People == 0 {
		t.Fatal(sizes, err)
	}
	if got := fmt.Sprint(limits); got != "map[items:{200 2} orders:{100 10}]" {
		t.Error(got)
	}
	_, kept, _, err := InspectKept(t.Context(), ds)
	if got := fmt.Sprint(kept); err != nil || !strings.Contains(got, "max_rows: 10 keeps 10 % of the rows, and all rows of less than 1 % "+
		"of the people; grouped by shop, max_groups: 3 keeps 37 % of the rows") || !strings.Contains(got, "max_rows: 10 keeps 5 %") {
		t.Errorf("%s, %v", got, err)
	}
	// A draft is made of files that may hold nobody.
	write(t, folder, "orders.csv", "oid,pid,shop\n")
	if _, limits, err = ProposeLimits(t.Context(), ds, nil); err != nil || len(limits) > 0 {
		t.Error(limits, err)
	}
}

// What a check says about numbers with fractions, rows about nobody, and a delta that is too large
// for so few people.
func TestCheckSmallPrint(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "pid,n,m\n1,1.5,1\n2,2,2\n3,3,3.0\n,4,4\n,5,5\n")
	for kind, nobody := range map[string]string{
		"unique: pid": "(2) do not say whom they are about", "max_rows: 1, max_groups: 1": "(2) belong to nobody",
	} {
		ds := dataset(t, folder, "source: t.csv\nunit: t.pid\ntables: {t: {"+kind+", columns: {n: {type: integer}, m: {type: integer}}}}")
		ds.Budget.Delta = dp.One / 20
		found, err := check(t, ds)
		got := fmt.Sprintf("%+v", found)
		if err != nil || len(found) != 3 || !strings.Contains(got, nobody) || !strings.Contains(got, "Column:n Broken:false Unread:false "+
			"Text:many of the values have a fraction") || !strings.Contains(got, "delta is 0.05, but there are 3 people") {
			t.Errorf("%s: %s, %v", kind, got, err)
		}
	}
}
