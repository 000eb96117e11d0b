package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// parquet turns a deployment's CSV files into Parquet files.
func parquet(t *testing.T, policy string) string {
	t.Helper()
	for _, name := range []string{"patients", "visits"} {
		file := beside(policy, "data", name)
		duck(t, "", "COPY (FROM read_csv('"+file+".csv')) TO '"+file+".parquet'")
		if err := os.Remove(file + ".csv"); err != nil {
			t.Fatal(err)
		}
	}
	return beside(policy, "data", "patients.parquet")
}

// secrets are values of the data that no message may hold.
var secrets = []string{"1003A", "hypertension", "asthma", "Mallory"}

// The data changes under a policy that stays.
func TestDataChanges(t *testing.T) {
	const sum = "SELECT SUM(age) FROM patients"
	rewrite := func(columns string) func(*testing.T, string) {
		return func(t *testing.T, policy string) {
			file := parquet(t, policy)
			duck(t, "", "CREATE TABLE p AS FROM '"+file+"'", "COPY (SELECT "+columns+" FROM p) TO '"+file+"'")
		}
	}
	truncate := func(file string, size int64) func(*testing.T, string) {
		return func(t *testing.T, policy string) {
			if strings.HasSuffix(file, ".parquet") {
				parquet(t, policy)
			}
			if err := os.Truncate(beside(policy, "data", file), size); err != nil {
				t.Fatal(err)
			}
		}
	}
	csv := func(f func(string) string) func(*testing.T, string) {
		return func(t *testing.T, policy string) { change(t, beside(policy, "data", "patients.csv"), f) }
	}
	for _, c := range []struct {
		name   string
		change func(*testing.T, string)
		code   int
		says   string
	}{
		{"parquet", func(t *testing.T, policy string) { parquet(t, policy) }, 0, "price"},
		{"parquet, text", rewrite("* REPLACE ('Mallory ' || age AS age)"), 1, "the policy says that column age is integer"},
		{"parquet, a list", rewrite("* REPLACE ([age] AS age)"), 1, "the policy says that column age is integer"},
		{"parquet, a date", rewrite("* REPLACE (DATE '2020-01-01' + age::INTEGER AS age)"), 1,
			"the policy says that column age is integer"},
		{"parquet, no column", rewrite("* EXCLUDE (age)"), 1, "there is no column age in"},
		{"parquet, no unit", rewrite("* EXCLUDE (pid)"), 1, "there is no column pid in"},
		{"parquet, half", truncate("patients.parquet", 700), 1, "cannot read the schema of"},
		{"parquet, empty", truncate("patients.parquet", 0), 1, "cannot read the schema of"},
		{"parquet, another kind", func(t *testing.T, policy string) {
			parquet(t, policy)
			write(t, beside(policy, "data", "patients.parquet"), "pid,age\n1,Mallory\n")
		}, 1, "cannot read the schema of"},
		{"gone", func(t *testing.T, policy string) { os.RemoveAll(beside(policy, "data")) }, 1, "there is no file"},
		{"a folder", func(t *testing.T, policy string) {
			os.Remove(beside(policy, "data", "patients.csv"))
			os.Mkdir(beside(policy, "data", "patients.csv"), 0o755)
		}, 1, "patients.csv"},
		{"csv, words", csv(func(s string) string { return s + "999,Mallory,Mallory,Mallory,Mallory,Mallory,Mallory\n" }), 0, "price"},
		{"csv, ragged", csv(func(s string) string { return s + "1000\n1001,1,2,3,4,5,6,7,8,Mallory\n\"Mallory" }), -1, ""},
		{"csv, no column", csv(func(s string) string { return strings.Replace(s, "age", "years", 1) }), 1, "there is no column age in"},
		{"csv, twice", csv(func(s string) string { return strings.Replace(s, "smoker", "age", 1) }), 1, "must name every column once"},
		{"csv, half", truncate("patients.csv", 1000), 0, "price"},
		{"csv, header alone", truncate("patients.csv", 39), 0, "price"},
		{"csv, empty", truncate("patients.csv", 0), 1, "is empty; the first line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := deploy(t, tenQuestions)
			asks(policy, people).wants(t, 0)
			before := spent(t, policy)
			c.change(t, policy)
			r := asks(policy, sum)
			if c.code >= 0 {
				r.wants(t, c.code, c.says)
			}
			r.lacks(t, secrets...)
			if after := spent(t, policy); c.code == 1 && after.Head != before.Head {
				t.Error("data that could not be opened was charged for")
			}
			asks(policy, "--json", sum).lacks(t, secrets...)
			command("check", policy).lacks(t, secrets...)
		})
	}
}

// The owner is told what does not fit.
func TestCheckData(t *testing.T) {
	policy := deploy(t, tenQuestions)
	command("check", policy).wants(t, 0, "patients  age        integer  0 .. 110", "the policy and the data were read").lacks(t,
		"BROKEN", "note")
	change(t, beside(policy, "data", "patients.csv"), func(s string) string {
		return s + "999,Mallory,F,1001A,flu,perhaps,12\n1000,,F,1001A,flu,true,99999\n"
	})
	command("check", policy).wants(t, 0, "note: patients.age: some of the values are not integer; they count as NULL",
		"note: patients.smoker: some", "note: patients.cost: some of the values are beyond the bounds", "nullable: false").lacks(t,
		"BROKEN").lacks(t, secrets...)

	// The promise that a person has one row is what the guarantee rests on.
	change(t, beside(policy, "data", "patients.csv"), func(s string) string { return s + "1,30,F,1001A,flu,true,12\n" })
	r := command("check", policy).wants(t, 1, "BROKEN: patients.pid: ", "THE GUARANTEE DOES NOT HOLD",
		"error: the data breaks what the policy promises")
	if !strings.Contains(r.err, "error: ") || strings.Contains(r.err, "BROKEN:") {
		t.Errorf("standard error has %q", r.err)
	}
	// --json prints one document, with the findings and the error in it.
	d := command("check", "--json", policy).wants(t, 1).decode(t)
	findings := d["datasets"].(map[string]any)["hospital"].(map[string]any)["findings"].([]any)
	if d["ok"] != false || len(findings) < 4 || d["error"].(map[string]any)["kind"] != "failed" {
		t.Errorf("got %v", d)
	}
	command("check", "--no-data", policy).wants(t, 0, "the data was not opened")
	os.RemoveAll(beside(policy, "data"))
	command("check", "--no-data", "--json", policy).wants(t, 0, `"ok": true`)
	command("check", policy).wants(t, 1, "there is no file")
	if _, err := os.Stat(beside(policy, "policy.ledger")); err == nil {
		t.Error("a check made a ledger")
	}
}

// The owner sees whose rows are whose, and is told when a path does not say it.
func TestCheckPaths(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "shop.yaml")
	for name, text := range map[string]string{
		"shop.yaml": `datasets:
  shop:
    engine: duckdb
    source: .
    unit: customers.cid
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {ana: {}}
    tables:
      customers: {unique: cid, columns: {}}
      orders: {path: cust -> customers.cid, max_rows: 5, max_groups: 2, columns: {}}
      items: {path: order_id -> orders.oid, max_rows: 20, max_groups: 3, columns: {code: {type: text, keys: private}}}
      products: {public: true, unique: code, columns: {code: {type: text}}}
    views: {cheap: SELECT code FROM items, dear: SELECT code FROM items}
`,
		"customers.csv": "cid\n1\n2\n", "orders.csv": "oid,cust\n1,1\n2,2\n", "items.csv": "order_id,code\n1,2\n2,3\n",
		"products.csv": "code\n2\n3\n",
	} {
		write(t, beside(policy, name), text)
	}
	command("check", policy).wants(t, 0, "by that of rho, at most 0.022937), of which delta 5e-07 is set aside for private keys\n",
		"\ncustomers  one for each person, unique cid", "\norders     of one person 5 in a group, in 2 groups",
		"order_id -> orders.oid, cust -> customers.cid\n",
		"\nproducts   public, at most 1 for a row joined to it; one by code", "products  code    text  -       public data",
		"\nviews: cheap, dear\n").lacks(t, "note", "BROKEN")
	command("budget", "-p", policy).wants(t, 0, "epsilon 0 of 1 at delta 1e-06", "\nfor private keys, delta 0 of 5e-07 is spent\n")
	command("check", "--json", policy).wants(t, 0, `"public":["products"]`, `"views":["cheap","dear"]`)
	// A view that nobody could ask about is the owner's to mend, and one of public tables is not.
	good, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	write(t, policy, strings.Replace(string(good), "dear: SELECT code FROM items", "dear: SELECT cod FROM items", 1))
	command("check", "--no-data", policy).wants(t, 1, `the view "dear" cannot be used here: there is no column "cod"; correct it`)
	write(t, policy, strings.Replace(string(good), "dear: SELECT code FROM items", "dear: SELECT code FROM products", 1))
	command("check", policy).wants(t, 0, "views: cheap, dear")
	write(t, policy, string(good))
	for file, line := range map[string]string{"orders": "2,1\n", "products": "3\n"} {
		change(t, beside(policy, file+".csv"), func(s string) string { return s + line })
	}
	command("check", policy).wants(t, 1, "BROKEN: orders.oid: a path leads to this column",
		"BROKEN: products.code: the policy says that it is unique", "error: the data breaks what the policy promises")
}

func TestNamesWithSpaces(t *testing.T) {
	policy := deploy(t, tenQuestions)
	dir := filepath.Join(filepath.Dir(policy), "my data; it's 100% ours")
	if err := os.Rename(beside(policy, "data"), dir); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(dir, "my policy.yaml")
	text, _ := os.ReadFile(policy)
	write(t, moved, strings.Replace(string(text), "source: data", "source: '.'", 1))
	asks(moved, people).wants(t, 0)
	command("check", moved).wants(t, 0)
	command("ledger", "verify", "-p", moved).wants(t, 0, "is whole")
}
