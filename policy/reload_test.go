package policy

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// reloadable is a policy with something under most keys.
const reloadable = `ledger: l.ledger
anchor: {file: a.anchor}
datasets:
  shop:
    engine: duckdb
    source: data
    unit: customers.cid
    budget: {epsilon: 5, delta: 1e-6, noise: auto, renewal: {every: month, windows: 2}}
    analysts: {ana: {share: 0.5}}
    tables:
      customers:
        unique: cid
        columns: {age: {type: integer, bounds: [0, 110]}}
      orders:
        path: cid -> customers.cid
        max_rows: 3
        max_groups: 2
        columns: {cost: {type: integer, bounds: [0, 9]}}
`

func parseReloadable(t *testing.T) *Policy {
	t.Helper()
	p, err := Parse("shop.yaml", []byte(reloadable))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mayChange are the fields that a policy may change while questions are asked. A field that is new
// is none of them, so this test fails for whoever adds it to CheckReload without a thought.
var mayChange = []string{
	"Policy.Path", "Policy.Dir", "Policy.Datasets",
	"Dataset.Analysts", "Dataset.Groups", "Dataset.Tables", "Dataset.Views", "Dataset.MaxFanout", "Dataset.Existence", "Dataset.Sizes",
	"Dataset.Budget",
	"Budget.DefaultDelta", "Budget.DefaultEpsilon", "Budget.MaxEpsilon", "Budget.MinEpsilon",
	"Table.MaxRows", "Table.MaxGroups", "Table.AutoRows", "Table.AutoGroups", "Table.LimitsFromData", "Table.MaxJoined", "Table.Columns",
	"Table.CSV", "CSVFile.Columns",
}

// Every field of a policy, set to something else, needs a restart or is known to need none.
func TestCheckReloadOfEveryField(t *testing.T) {
	structs := []func(p *Policy) any{
		func(p *Policy) any { return p },
		func(p *Policy) any { return p.Datasets["shop"] },
		func(p *Policy) any { return &p.Datasets["shop"].Budget },
		func(p *Policy) any { return p.Datasets["shop"].Tables["orders"] },
		func(p *Policy) any { return &p.Datasets["shop"].Tables["orders"].CSV },
	}
	for _, of := range structs {
		kind := reflect.TypeOf(of(parseReloadable(t))).Elem()
		for _, f := range reflect.VisibleFields(kind) {
			name := kind.Name() + "." + f.Name
			if !f.IsExported() || slices.Contains([]string{"Policy.Datasets", "Dataset.Tables", "Dataset.Budget", "Table.CSV"}, name) {
				continue // whose own fields are set
			}
			was, is := parseReloadable(t), parseReloadable(t)
			field := reflect.ValueOf(of(is)).Elem().FieldByIndex(f.Index)
			field.Set(otherValue(t, name, field))
			err := CheckReload(was, is)
			var refused *RestartError
			if free := slices.Contains(mayChange, name); free && err != nil || !free && !errors.As(err, &refused) {
				t.Errorf("%s: %v", name, err)
			} else if !free && len(refused.Keys) != 1 {
				t.Errorf("%s: %q", name, refused.Keys)
			}
		}
	}
}

// otherValue is a value that is not the one there is.
func otherValue(t *testing.T, name string, v reflect.Value) reflect.Value {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		return reflect.ValueOf(v.String() + "x").Convert(v.Type())
	case reflect.Bool:
		return reflect.ValueOf(!v.Bool()).Convert(v.Type())
	case reflect.Int, reflect.Int32, reflect.Int64:
		return reflect.ValueOf(v.Int() + 1).Convert(v.Type())
	case reflect.Uint8, reflect.Uint64:
		return reflect.ValueOf(v.Uint() + 1).Convert(v.Type())
	case reflect.Slice:
		return reflect.Append(v, reflect.Zero(v.Type().Elem()))
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), reflect.New(v.Type().Elem()).Elem())
		return m
	case reflect.Pointer:
		return reflect.New(v.Type().Elem())
	case reflect.Struct:
		s := reflect.New(v.Type()).Elem()
		s.Set(v)
		s.Field(0).Set(otherValue(t, name, v.Field(0)))
		return s
	}
	t.Fatalf("%s is a %s", name, v.Kind())
	return v
}

// A restart is asked for by the keys of the file, also for what follows from another key.
func TestRestartError(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"noise: auto, ", "", "(shop.budget.noise)"}, // which is gaussian for whoever renews
		{"unit: customers.cid", "neighbours: substitute\n    unit: customers.cid", "(shop.neighbours)"},
		{"epsilon: 5", "epsilon: 6", "(shop.budget.epsilon)"},
		{"windows: 2", "windows: 3", "(shop.budget.renewal)"},
		{"{type: integer, bounds: [0, 110]}", "{type: text, keys: private}", "(shop.budget.keys_delta)"},
		{"unique: cid", "unique: cid\n        bad_lines: refuse", "(shop.tables.customers.bad_lines)"},
		{"l.ledger", "m.ledger", "(ledger)"},
		{"a.anchor", "b.anchor", "(anchor)"},
		{"  shop:", "  store:", "(datasets.shop, datasets.store)"},
		{"max_rows: 3", "max_rows: 4", ""},
	} {
		is, err := Parse("shop.yaml", []byte(strings.Replace(reloadable, c.old, c.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		err = CheckReload(parseReloadable(t), is)
		if c.want == "" && err != nil || c.want != "" && !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", c.new, err)
		}
	}
	// What is the same number is the same, however it is written.
	is, err := Parse("shop.yaml", []byte(strings.Replace(reloadable, "share: 0.5", "share: 0.50", 1)))
	if err != nil || !Same(parseReloadable(t).Datasets["shop"], is.Datasets["shop"]) {
		t.Error("a share that is written in another way is another share", err)
	}
	was, now := parseReloadable(t).Datasets["shop"], is.Datasets["shop"]
	now.Analysts["ana"] = &Analyst{Name: "ana", Share: big.NewRat(1, 3), Expires: time.Unix(1, 0)}
	if Same(was, now) || !SameData(was, now) {
		t.Error("another share is no change, or one of the data")
	}
	if now.Existence = 7; Same(was, now) || !SameData(was, now) {
		t.Error("another existence is no change, or one of the data")
	}
	if now.MaxFanout = 7; SameData(was, now) { // the engine says how long a question may take
		t.Error("the data is opened for another max_fanout")
	}
}
