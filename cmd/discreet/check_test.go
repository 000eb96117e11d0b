package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// parquet turns a deployment's CSV files into Parquet files.
func parquet(t testing.TB, policy string) string {
	t.Helper()
	for _, name := range []string{"patients", "visits"} {
		file := beside(policy, "data", name)
		duck(t, "", "COPY (FROM read_csv('"+file+".csv')) TO '"+file+".parquet'")
		must(t, os.Remove(file+".csv"))
	}
	return beside(policy, "data", "patients.parquet")
}

// secrets are values of the data that no message may hold.
var secrets = []string{"1003A", "hypertension", "asthma", "Mallory"}

// The data changes under a policy that stays. Every day some of the changes are made.
func TestDataChanges(t *testing.T) {
	t.Parallel()
	const sum = "SELECT SUM(age) FROM patients"
	// Each begins with one question paid for, of CSV files or of Parquet files.
	asked := deploy(t, tenQuestions)
	asks(asked, people).wants(t, 0)
	before := spent(t, asked)
	files := filepath.Dir(parquet(t, copied(t, filepath.Dir(asked), "policy.yaml")))
	parquet := func(t *testing.T, policy string) string {
		must(t, os.RemoveAll(beside(policy, "data")))
		must(t, os.CopyFS(beside(policy, "data"), os.DirFS(files)))
		return beside(policy, "data", "patients.parquet")
	}
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
			must(t, os.Truncate(beside(policy, "data", file), size))
		}
	}
	csv := func(f func(string) string) func(*testing.T, string) {
		return func(t *testing.T, policy string) { change(t, beside(policy, "data", "patients.csv"), f) }
	}
	type changed struct {
		name   string
		change func(*testing.T, string)
		code   int
		says   string
	}
	for _, c := range daily.Sample(t, []changed{
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
		{"gone", func(t *testing.T, policy string) { os.RemoveAll(beside(policy, "data")) }, 1, "patients.csv does not exist"},
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
	}, 7) {
		t.Run(c.name, func(t *testing.T) {
			policy := copied(t, filepath.Dir(asked), "policy.yaml")
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
	t.Parallel()
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
		"error: the data breaks promises of the policy")
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
	command("check", policy).wants(t, 1, "patients.csv does not exist")
	if _, err := os.Stat(beside(policy, "policy.ledger")); err == nil {
		t.Error("a check made a ledger")
	}
}

// The owner sees whose rows are whose, and is told when a path does not say it.
func TestCheckPaths(t *testing.T) {
	t.Parallel()
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
	command("check", policy).wants(t, 0, "or the sum of rho, at most 0.022937), including delta 5e-07 for private keys\n",
		"\ncustomers  one for each person, unique cid", "\norders     for one person 5 in a group, in 2 groups",
		"order_id -> orders.oid, cust -> customers.cid\n",
		"\nproducts   public, at most 1 for a row joined to it; one by code", "products  code    text  -       public data",
		"\nviews: cheap, dear\n").lacks(t, "note", "BROKEN")
	command("budget", "-p", policy).wants(t, 0, "epsilon 0 of 1 at delta 1e-06", "\nfor private keys, delta 0 of 5e-07 is spent\n")
	command("check", "--json", policy).wants(t, 0, `"public":["products"]`, `"views":["cheap","dear"]`)
	// A view that nobody could ask about is the owner's to mend, and one of public tables is not.
	good := contents(t, policy)
	write(t, policy, strings.Replace(good, "dear: SELECT code FROM items", "dear: SELECT cod FROM items", 1))
	command("check", "--no-data", policy).wants(t, 1, `the view "dear" cannot be used here: there is no column "cod"; correct it`)
	write(t, policy, strings.Replace(good, "dear: SELECT code FROM items", "dear: SELECT code FROM products", 1))
	command("check", policy).wants(t, 0, "views: cheap, dear")
	write(t, policy, good)
	for file, line := range map[string]string{"orders": "2,1\n", "products": "3\n"} {
		change(t, beside(policy, file+".csv"), func(s string) string { return s + line })
	}
	command("check", policy).wants(t, 1, "BROKEN: orders.oid: a path leads to this column",
		"BROKEN: products.code: the policy says that it is unique", "error: the data breaks promises of the policy")
}

func TestNamesWithSpaces(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	dir := filepath.Join(filepath.Dir(policy), "my data; it's 100% ours")
	must(t, os.Rename(beside(policy, "data"), dir))
	moved := filepath.Join(dir, "my policy.yaml")
	text, _ := os.ReadFile(policy)
	write(t, moved, strings.Replace(string(text), "source: data", "source: '.'", 1))
	asks(moved, people).wants(t, 0)
	command("check", moved).wants(t, 0)
	command("ledger", "verify", "-p", moved).wants(t, 0, "is whole")
}

// Answers name the version of the data where there is something to say, and JSON always.
func TestDataVersion(t *testing.T) {
	t.Parallel()
	policy := deploy(t, "{epsilon: 10}")
	asks(policy, people).wants(t, 0, "price").lacks(t, "data version", "changed")
	change(t, beside(policy, "data", "patients.csv"), func(s string) string { return s + "\n" })
	change(t, beside(policy, "data", "visits.csv"), func(s string) string { return s[:len(s)-40] })
	asks(policy, people).wants(t, 0, "or how the policy reads it, has changed: answers with receipts before", "data version 2")
	asks(policy, people).wants(t, 0, "free", "data version 2").lacks(t, "changed")
	if got := fmt.Sprint(asks(policy, "--json", people).decode(t)["data_version"]); got != "map[number:2]" {
		t.Error(got)
	}
	command("check", policy).wants(t, 0, "data version: the contents of 2 files")
}

// The owner's version query is shown, by check too, and what is wrong with it only there.
func TestVersionQuery(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "t.duckdb")
	duck(t, file, "CREATE TABLE t AS SELECT 1 AS i", "CREATE TABLE load_log AS SELECT DATE '2026-11-01' AS loaded_at")
	policy := write(t, filepath.Join(folder, "p.yaml"), `datasets:
  d:
    engine: duckdb
    source: t.duckdb
    version: SELECT max(loaded_at) FROM load_log
    unit: row
    budget: {epsilon: 1}
    analysts: {ana: }
    tables: {t: {columns: {i: {type: integer}}}}
`)
	const question = "SELECT COUNT(*) FROM t"
	command("check", policy).wants(t, 0, `data version: "2026-11-01", by the version query; analysts see it`)
	got := command("check", "--json", policy).decode(t)["datasets"].(map[string]any)["d"]
	if fmt.Sprint(got.(map[string]any)["data_version"]) != `"2026-11-01", by the version query; analysts see it` {
		t.Error(got)
	}
	asks(policy, question).wants(t, 0, "data version 1: 2026-11-01")
	duck(t, file, "INSERT INTO load_log VALUES (DATE '2026-11-02')")
	asks(policy, question).wants(t, 0, "data version 2: 2026-11-02", "has changed")
	if got := fmt.Sprint(asks(policy, "--json", question).decode(t)["data_version"]); got != "map[name:2026-11-02 number:2]" {
		t.Error(got)
	}
	duck(t, file, "DELETE FROM load_log")
	asks(policy, question).wants(t, 1, "does not name the data", "discreet check").lacks(t, "NULL")
	command("check", policy).wants(t, 1, "is NULL")
	// The ledger has what the owner calls the versions.
	command("ledger", "verify", "-p", policy).wants(t, 0)
}

// Sizes may be declared, changed and removed after something was charged: answers stay as they are.
func TestSizesChange(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0)
	command("check", policy).wants(t, 0, "Deadlines follow the sizes of the data", "chosen by the size of the data")
	block := command("check", policy, "--sizes").wants(t, 0, "    sizes:\n      people: ").out
	change(t, policy, func(s string) string { return s + block })
	command("check", policy).wants(t, 0, "chosen by the sizes that the policy declares")
	asks(policy, "SELECT COUNT(*) FROM patients").wants(t, 0, "free")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0)
	change(t, policy, func(s string) string { return strings.ReplaceAll(s, "rows: ", "rows: 1") })
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0, "free")
	change(t, policy, func(s string) string { return strings.TrimSuffix(s, s[strings.Index(s, "    # Paste"):]) })
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 50").wants(t, 0, "free")
	command("ledger", "replay", beside(policy, "policy.ledger")).wants(t, 0, "0 differ")
	command("check", policy, "--sizes", "--no-data").wants(t, 2, "leave out one of the two")
	command("check", policy, "--sizes", "--json").wants(t, 0, `"people":`)
}

// A draft of files declares their sizes, rounded up, and its deadlines follow from that. Where the
// data cannot be opened as it is drafted it says what to do.
func TestInitSizes(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "patients.csv")
	rows := "pid,note\n" + strings.Repeat("x1,abc\n", 1) + strings.Repeat("y,a longer text than that\n", 1500)
	must(t, os.WriteFile(file, []byte(rows), 0o600))
	draft := filepath.Join(folder, "p.yaml")
	command("init", file, "--analyst", "ana", "-o", draft).wants(t, 0)
	db, err := discreet.Open(t.Context(), draft)
	must(t, err)
	defer db.Close()
	sizes := db.Policy().Datasets["patients"].Sizes
	if sizes == nil || sizes.People != 2048 || sizes.Tables["patients"].Rows != 2048 || sizes.Tables["patients"].Lengths["note"] != 32 {
		t.Errorf("%+v", sizes)
	}
	command("check", draft).wants(t, 0, "chosen by the sizes that the policy declares")
	// Who fills in keys: private as the draft says has sizes for that, too.
	const proposed = "# keys: [A, B, C]                # fill in to group by it, or write keys: private"
	change(t, draft, func(s string) string { return strings.Replace(s, proposed, "keys: private", 1) })
	command("check", draft).wants(t, 0, "private", "chosen by the sizes that the policy declares")
	command("init", file, orders(t, folder), filepath.Join(folder, "items.csv"), "--unit", "patients.pid", "--person",
		"items=order->orders.nobody").wants(t, 0, "'discreet check --sizes' with")
}

// orders writes two more tables, and returns the first.
func orders(t *testing.T, folder string) string {
	t.Helper()
	for name, text := range map[string]string{"orders.csv": "pid,oid\nx1,7\n", "items.csv": "order,n\n7,1\n"} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return filepath.Join(folder, "orders.csv")
}

// Every kind of bad question: refused, free, and with a hint.
func TestRefused(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	asks(policy, people).wants(t, 0)
	before := spent(t, policy)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--epsilon", "0", people}, "above 0"},
		{[]string{"--epsilon", "-1", people}, "negative"},
		{[]string{"--epsilon=-1", people}, "negative"},
		{[]string{"--epsilon", "NaN", people}, `"NaN" is not an amount of privacy`},
		{[]string{"--epsilon", "1e20", people}, "the largest is 1048576"},
		{[]string{"--epsilon", "inf", people}, `"inf" is not an amount`},
		{[]string{"--epsilon", "abc", people}, `"abc" is not an amount`},
		{[]string{"--epsilon", "", people}, "a value is missing"},
		{[]string{"--epsilon=", people}, "a value is missing"},
		{[]string{"--epsilon", "0x10", people}, `"0x10" is not an amount`},
		{[]string{"--epsilon", "1/2", people}, `"1/2" is not an amount`},
		{[]string{"--epsilon", "0.51", people}, "ask with at most 0.5"},
		{[]string{"--epsilon", "1e-13", people}, "the smallest is 2^-40"},
		{[]string{"--dataset", "clinic", people}, `there is no dataset "clinic"; name one of hospital`},
		{[]string{"--as", "eve", people}, `there is no analyst "eve"`},
		{[]string{""}, "the question is empty"},
		{[]string{"SELECT"}, "refused: "},
		{[]string{"SELECT COUNT(*) FROM patients WHERE"}, "refused: "},
		{[]string{"SELECT COUNT(*) FROM patients; DROP TABLE patients"}, "refused: "},
		{[]string{"SELECT COUNT(*) FROM patient"}, "tables are patients, visits"},
		{[]string{"SELECT COUNT(weight) FROM patients"}, "columns of patients are age, cost"},
		{[]string{"SELECT age FROM patients"}, "not in GROUP BY"},
		{[]string{"SELECT STRING_AGG(sex, ',') FROM patients"}, "depends on one person's row"},
		{[]string{strings.Repeat("(", 100_000)}, "refused: "},
		{[]string{"SELECT \"\x1b[2J\"(age) FROM patients"}, "the function ?[2J cannot be used"},
		{nil, `expected "<sql>"; see discreet query --help`},
		{[]string{people, "and more"}, "see discreet query --help"},
		{[]string{"--budget", "1", people}, "unknown flag --budget; see discreet query --help"},
		{[]string{"--json=maybe", people}, "see discreet query --help"},
	} {
		r := asks(policy, c.args...).wants(t, 2, c.says, "refused: ").lacks(t, "\x1b")
		if r.out != "" {
			t.Errorf("%q printed %q", r.args, r.out)
		}
		if len(c.args) > 0 && !strings.HasPrefix(c.args[0], "--json") {
			asks(policy, append([]string{"--json"}, c.args...)...).fails(t, 2, "refused")
		}
	}
	command("query", people).wants(t, 2, "missing flags: --as=ANALYST, --policy=FILE")
	command("nonsense").wants(t, 2, "see discreet --help")
	command("ledger").wants(t, 2, `expected one of "show", "verify", `)
	command("--nonsense").wants(t, 2, "unknown flag --nonsense")
	if after := spent(t, policy); after.Head != before.Head {
		t.Errorf("refusals changed the ledger from %+v to %+v", before, after)
	}
}

func TestWhichDataset(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	change(t, policy, func(s string) string {
		_, body, _ := strings.Cut(s, "datasets:\n")
		second := strings.Replace(strings.Replace(body, "  hospital:", "  clinic:", 1), "source: data", "source: other", 1)
		return s + second
	})
	must(t, os.CopyFS(beside(policy, "other"), os.DirFS(beside(policy, "data"))))
	for _, name := range []string{"query", "explain"} {
		command(name, "-p", policy, "--as", "ana", people).wants(t, 2, "the policy has several datasets; name one of clinic, hospital")
		command(name, "-p", policy, "--as", "ana", "--dataset", "clinic", people).wants(t, 0)
	}
	command("budget", "-p", policy).wants(t, 0, "clinic", "hospital")
	command("budget", "-p", policy, "--dataset", "hospital").wants(t, 0)
	command("check", policy).wants(t, 0, "dataset clinic", "dataset hospital")
}

// Commands that read a policy say what is wrong with it, and touch nothing.
func TestBadPolicy(t *testing.T) {
	t.Parallel()
	good := deploy(t, tenQuestions)
	text := contents(t, good)
	edit := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the policy has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
	for _, c := range []struct {
		name, text string
		says       []string
	}{
		{"empty", "", []string{"policy.yaml"}},
		{"not yaml", "datasets: [", []string{"policy.yaml"}},
		{"binary", "\x00\x01\x02", []string{"policy.yaml"}},
		{"unknown key", edit("    engine: duckdb", "    engin: duckdb"), []string{"engin", "policy.yaml:3"}},
		{"bounds the wrong way", edit("bounds: [0, 110]", "bounds: [110, 0]"), []string{"bounds", "policy.yaml:12"}},
		{"several", edit("bounds: [0, 110]", "bounds: [110, 0]") + "        nonsense: 1\n    more: 2\n",
			[]string{"bounds", "nonsense", "more"}},
		{"epsilon", edit("{epsilon: 1,", "{epsilon: -1,"), []string{"epsilon"}},
		{"share", edit("share: 0.5", "share: 2"), []string{"share 2 is above 1"}},
		{"unit", edit("unit: patients.pid", "unit: patients"), []string{"unit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := write(t, t.TempDir()+"/policy.yaml", c.text)
			for _, args := range [][]string{{"query", "-p", policy, "--as", "ana", people}, {"explain", "-p", policy, "--as", "ana",
				people}, {"budget", "-p", policy}, {"check", policy}, {"ledger", "verify", "-p", policy}} {
				command(args...).wants(t, 1, c.says...)
			}
			command("check", "--json", policy).fails(t, 1, "failed")
			if entries, _ := os.ReadDir(beside(policy)); len(entries) != 1 {
				t.Errorf("a bad policy left %v", entries)
			}
		})
	}
	for _, args := range [][]string{{"query", "-p", "no.yaml", "--as", "ana", people}, {"budget", "-p", "no.yaml"}, {"check", "no.yaml"},
		{"ledger", "verify", "-p", "no.yaml"}} {
		command(args...).wants(t, 1, "read the policy: open no.yaml: no such file or directory")
	}
	command("check", t.TempDir()).wants(t, 1, "is a directory")
}

const manyVisits = `
datasets:
  clinic:
    engine: duckdb
    source: clinic.duckdb
    unit: visits.pid
    budget: {epsilon: 10}
    analysts: {ana: {}}
    tables:
      visits:
        max_rows: 5
        max_groups: 2
        columns:
          cost: {type: decimal, bounds: [0, 100], granularity: 0.01}
          ward: {type: text, keys: [A, B]}
`

// An owner's walk: prepare, change the lines as it says, check, ask.
func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy := write(t, filepath.Join(dir, "clinic.yaml"), manyVisits)
	duck(t, filepath.Join(dir, "clinic.duckdb"), "CREATE TABLE visits AS SELECT 'person ' || (i * 7919 % 1003) AS pid, i / 7 AS cost, "+
		"CASE i % 3 WHEN 0 THEN 'A' WHEN 1 THEN 'B' END AS ward FROM range(20000) r(i)")
	r := command("prepare", policy).wants(t, 0, "discreet check "+policy,
		"  clinic:\n    tables:\n      visits:\n        prepared: \"prepared/visits.duckdb\"\n")
	if strings.Contains(r.out+r.err, "person 1") {
		t.Error("it shows data")
	}
	out := filepath.Join(dir, "else where")
	if v := command("prepare", policy, "--out", out, "--json").wants(t, 0).decode(t); len(v["tables"].([]any)) != 1 {
		t.Errorf("got %v", v)
	}
	const question = "SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward"
	asks(policy, question).wants(t, 0, "ward")
	replace(t, policy, "      visits:\n", "      visits:\n        prepared: \"prepared/visits.duckdb\"\n")
	command("check", policy).wants(t, 0, "the policy and the data were read")
	asks(policy, question).wants(t, 0, "free") // it is the same data, and was paid for
	asks(policy, "SELECT COUNT(*) FROM visits").wants(t, 0, "count")
	replace(t, policy, "[0, 100]", "[0, 1000]")
	command("check", policy).wants(t, 1, "discreet prepare")
	command("prepare", policy).wants(t, 0, "where the policy has them")
	command("check", policy).wants(t, 0)
	// Other data is refused until it is prepared.
	duck(t, filepath.Join(dir, "clinic.duckdb"), "INSERT INTO visits VALUES ('somebody', 1, 'A')")
	command("check", policy).wants(t, 1, "has changed since")
	asks(policy, question).wants(t, 1, "discreet prepare")
	command("prepare", policy).wants(t, 0)
	asks(policy, question).wants(t, 0, "ward")

	nothing := write(t, filepath.Join(t.TempDir(), "p.yaml"), strings.Replace(strings.Replace(manyVisits, "unit: visits.pid", "unit: row",
		1), "        max_rows: 5\n        max_groups: 2\n", "", 1))
	duck(t, filepath.Join(filepath.Dir(nothing), "clinic.duckdb"), "CREATE TABLE visits AS SELECT 1.5 AS cost, 'A' AS ward")
	command("prepare", nothing).wants(t, 0, "nothing to prepare")
	command("prepare", filepath.Join(dir, "no.yaml")).wants(t, 1)
}
