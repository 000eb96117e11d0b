package policywords_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/policy"
)

const shop = `datasets:
  shop:
    engine: duckdb
    source: data
    unit: customers.cid
    budget: {epsilon: 5, delta: 1e-6, keys_delta: 1e-7, noise: auto, per_query: {default: 0.1, delta: 1e-8}}
    analysts: {ana: {share: 0.5}, ben: }
    groups: {day: {share: 0.4, analysts: [ana]}}
    views: {old: SELECT age FROM customers WHERE age > 60}
    tables:
      customers:
        unique: cid
        columns:
          age: {type: integer, bounds: [0, 110]}
          town: {type: text, keys: [a, b]}
          paid: {type: decimal, bounds: [0, 10], granularity: 0.01, max_sum: 5}
      orders:
        path: cid -> customers.cid
        max_rows: 4
        max_groups: 2
        columns: {cost: {type: integer, bounds: [0, 9]}, at: {type: date}}
`

// What changes is said, with what it means; and nothing else is.
func TestChanges(t *testing.T) {
	parse := func(text string) *policy.Policy {
		p, err := policy.Parse("shop.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return p
	}
	for _, c := range []struct{ old, new, what, was, is, means string }{
		{"ben: }", "ben: , eve: {share: 0.1}}", "analyst eve", "", "share 0.1", "out of the same budget"},
		{", ben: ", "", "analyst ben", "the whole budget", "", "not even free ones"},
		{"ana: {share: 0.5}", "ana: {epsilon: 1}", "quota of ana", "share 0.5", "epsilon 1", "stays spent"},
		{"ben: }", "ben: {expires: 2030-01-01}}", "last day of ben", "never", "2029-12-31", "when access ends"},
		{"groups: {day", "groups: {night: {share: 0.1, analysts: [ben]}, day", "group night", "", "share 0.1", "no earlier charge"},
		{"analysts: [ana]", "analysts: [ana, ben]", "members of the group day", "ana", "ana, ben", "from now on"},
		{"share: 0.4", "share: 0.2", "quota of the group day", "share 0.4", "share 0.2", "a part of the same budget"},
		{"default: 0.1", "default: 0.2", "per_query default", "0.1", "0.2", "names no price"},
		{"delta: 1e-8", "delta: 1e-9", "per_query delta", "1e-08", "1e-09", "private keys"},
		{"age > 60", "age > 70", "view old", "", "another text", "prices of their own"},
		{"    views: {old: SELECT age FROM customers WHERE age > 60}\n", "", "view old", "", "gone", "any more"},
		{"    unit", "    max_fanout: 7\n    unit", "max_fanout", "1000", "7", "longer"},
		{"    unit", "    existence: 40\n    unit", "existence", "", "40", "whether there are rows"},
		{"    unit", "    sizes: {people: 9, tables: {customers: {rows: 9, lengths: {town: 3}}, orders: {rows: 9}}}\n    unit", "sizes", "",
			"", "when answers leave"},
		{"[0, 110]", "[10, 55]", "bounds of customers.age", "0 .. 110", "10 .. 55", "noise of SUM 0.5 times as large"},
		{"[0, 110]", "[-110, 110]", "bounds of customers.age", "0 .. 110", "-110 .. 110", "noise of SUM stays the same"},
		{", bounds: [0, 110]", "", "bounds of customers.age", "0 .. 110", "", "cannot be summed"},
		{"{type: date}", "{type: date, bounds: [2020-01-01, 2021-01-01]}", "bounds of orders.at", "", "2020-01-01 .. 2021", "clamped"},
		{"[0, 10]", "[0, 20]", "bounds of customers.paid", "0 .. 10", "0 .. 20", "clamped to others"},
		{"bounds: [0, 9]", "bounds: [0, 9], bounds_from: data", "bounds_from of orders.cost", "no data", "data", "read off the data"},
		{"max_sum: 5", "max_sum: 7.5", "max_sum of customers.paid", "5", "7.5", "at most"},
		{"granularity: 0.01", "granularity: 0.1", "granularity of customers.paid", "0.01", "0.1", "rounded"},
		{"keys: [a, b]", "keys: [a, b, c]", "keys of customers.town", "2 public", "3 public", "which groups answers have; new: c"},
		{"keys: [a, b]", "keys: [b, c, d, e, f, g, h, i]", "keys of customers.town", "2 public", "8 public",
			"new: c, d, e, f, g and 2 more; gone: a"},
		{"keys: [a, b]", "keys: [b, a]", "keys of customers.town", "2 public", "2 public", "another order"},
		{"keys: [a, b]", "keys: private", "keys of customers.town", "2 public", "private", "which groups"},
		{"{type: date}", "{type: timestamp}", "type of orders.at", "date", "timestamp", "another type"},
		{"{type: date}", "{type: date, nullable: false}", "nullable of orders.at", "true", "false", "NULL"},
		{"{type: date}", "{type: date, format: DD.MM.YYYY}", "spelling of orders.at", "", "DD.MM.YYYY", "another way"},
		{", at: {type: date}", "", "column orders.at", "date", "", "stay given"},
		{"at: {type: date}", "at: {type: date}, by: {type: text, keys: private}", "column orders.by", "", "text, keys private", "can ask"},
		{"max_rows: 4", "max_rows: 2", "max_rows of orders", "4", "2", "0.5 times"},
		{"max_rows: 4", "max_rows: auto", "max_rows of orders", "4", "auto", "chosen for each question, up to 1000"},
		{"max_groups: 2", "max_groups: auto", "max_groups of orders", "2", "auto", "chosen for each question, up to 100"},
		{"max_groups: 2", "max_groups: 5", "max_groups of orders", "2", "5", "more noise"},
		{"max_rows: 4", "max_rows: 4\n        limits_from: data", "limits_from of orders", "no data", "data", "looking at the data"},
		{"max_rows: 4", "max_joined: 9\n        max_rows: 4", "max_joined of orders", "200", "9", "joins"},
		{"age: {type: integer, bounds: [0, 110]}\n          town: {type: text, keys: [a, b]}\n",
			"town: {type: text, keys: [a, b]}\n          age: {type: integer, bounds: [0, 110]}\n", "order of entries", "", "", "order"},
	} {
		if !strings.Contains(shop, c.old) {
			t.Fatalf("there is no %s", c.old)
		}
		was, is := parse(shop), parse(strings.Replace(shop, c.old, c.new, 1))
		if err := policy.CheckReload(was, is); err != nil {
			t.Errorf("%s: %v", c.new, err)
		}
		var found *api.PolicyChange
		all := policywords.Changes(was, is)
		for i := range all {
			if all[i].What == c.what {
				found = &all[i]
			}
		}
		switch {
		case found == nil:
			t.Errorf("%s: %+v", c.new, all)
		case found.Dataset != "shop" || !strings.Contains(found.Was, c.was) || !strings.Contains(found.Is, c.is) ||
			!strings.Contains(found.Means, c.means) || c.was == "" && found.Was != "" && c.is == "" || found.Means == "":
			t.Errorf("%s: %+v", c.new, *found)
		}
	}
	// A ratio to a limit that is chosen says nothing.
	chosen := strings.Replace(shop, "max_rows: 4", "max_rows: auto", 1)
	for _, pair := range [][2]string{{shop, chosen}, {chosen, shop}} {
		if all := policywords.Changes(parse(pair[0]), parse(pair[1])); len(all) != 1 || strings.Contains(all[0].Means, "times") {
			t.Errorf("%+v", all)
		}
	}
	if all := policywords.Changes(parse(shop), parse("# the same\n"+shop)); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}
