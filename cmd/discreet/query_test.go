package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/ledger"
)

// keysOf returns the keys of a JSON object in their order.
func keysOf(t *testing.T, object json.RawMessage) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token()
	var keys []string
	for d.More() {
		key, err := d.Token()
		must(t, err)
		keys = append(keys, key.(string))
		var skipped json.RawMessage
		must(t, d.Decode(&skipped))
	}
	return keys
}

// This is the contract of --json, which other programs rely on.
func TestQueryJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget          string
		cost, remaining string
	}{
		{tenQuestions, `{"epsilon":0.1,"rho":0.004995837497,"delta":0}`, `{"epsilon":0.9,"rho":null,"delta":0,"pure":0.9,"keys_delta":0}`},
		{concentrated, `{"epsilon":0.1,"rho":0.004995837496,"delta":0}`, ``},
	} {
		policy := deploy(t, c.budget)
		r := asks(policy, "--json", "SELECT sex, COUNT(*) FROM patients GROUP BY sex").wants(t, 0)
		var a struct {
			Columns   []string
			Rows      [][]any
			Errors    [][]*float64
			Cost      json.RawMessage
			Remaining json.RawMessage
			Receipt   struct {
				Sequence uint64
				Free     bool
			}
		}
		must(t, json.Unmarshal([]byte(r.out), &a))
		if got := keysOf(t, json.RawMessage(r.out)); !slices.Equal(got, []string{"columns", "rows", "errors", "cost", "remaining",
			"more", "receipt", "limits", "confidence", "notes", "data_version", "alerts"}) {
			t.Errorf("the keys are %v", got)
		}
		for _, m := range []struct {
			text json.RawMessage
			keys []string
		}{{a.Cost, []string{"epsilon", "rho", "delta"}}, {a.Remaining, []string{"epsilon", "rho", "delta", "pure", "keys_delta"}}} {
			if got := keysOf(t, m.text); !slices.Equal(got, m.keys) {
				t.Errorf("the keys are %v", got)
			}
		}
		if !slices.Equal(a.Columns, []string{"sex", "count"}) || len(a.Rows) != 3 || len(a.Errors) != 3 {
			t.Errorf("columns %v, %d rows, %d errors", a.Columns, len(a.Rows), len(a.Errors))
		}
		for i, key := range []string{"F", "M", "X"} {
			if _, number := a.Rows[i][1].(float64); a.Rows[i][0] != key || !number || a.Errors[i][0] != nil || *a.Errors[i][1] < 10 {
				t.Errorf("row %d is %v, its errors %v", i, a.Rows[i], a.Errors[i])
			}
		}
		if got := compact(t, a.Cost); c.cost != "" && got != c.cost {
			t.Errorf("the cost is %s; want %s", got, c.cost)
		}
		if got := compact(t, a.Remaining); c.remaining != "" && got != c.remaining {
			t.Errorf("%s remains; want %s", got, c.remaining)
		}
		if a.Receipt.Sequence != 2 || a.Receipt.Free {
			t.Errorf("the receipt is %+v", a.Receipt)
		}
		again := asks(policy, "--json", "SELECT sex, COUNT(1) FROM patients GROUP BY 1").wants(t, 0).decode(t)
		if fmt.Sprint(again["cost"]) != "map[delta:0 epsilon:0 rho:0]" || again["receipt"].(map[string]any)["free"] != true ||
			again["receipt"].(map[string]any)["sequence"] != 2.0 {
			t.Errorf("asked again it costs %v: %v", again["cost"], again["receipt"])
		}
		none := asks(policy, "--json", "SELECT sex, COUNT(1) FROM patients GROUP BY 1 LIMIT 0").wants(t, 0)
		if d := none.decode(t); fmt.Sprint(d["rows"], d["errors"]) != "[] []" || strings.Contains(compact(t, json.RawMessage(none.out)),
			`"rows":null`) {
			t.Errorf("no rows are %s", none.out)
		}
	}
}

func compact(t *testing.T, m json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	must(t, json.Compact(&b, m))
	return b.String()
}

func TestQuery(t *testing.T) {
	policy := deploy(t, concentrated)
	asks(policy, people).wants(t, 0, "count  ±95%\n", "price: epsilon 0.1 (rho 0.0049958); left: epsilon 0.", " at delta 1e-06 (rho 0.0")
	asks(policy, people).wants(t, 0, "price: free, already paid for; left: epsilon 0.")
	asks(policy, "--epsilon", "0.05", people).wants(t, 0, "note: computed from answers that were paid for before (record 2)", "price: free")
	asks(policy, "--epsilon", "0.11", people).wants(t, 0, "price: epsilon 0.04578760882 (rho 0.0010481)") // the difference
	asks(policy, "--request", "one", "SELECT COUNT(*) FROM visits").wants(t, 0, "price: epsilon 0.1")
	asks(policy, "--request", "one", "SELECT COUNT(*) FROM visits WHERE cost > 3").wants(t, 2,
		"was charged before with another question or price")
	asks(policy, "--request", "a\nb", "SELECT COUNT(*) FROM visits WHERE cost > 4").wants(t, 2, "the request contains a control character")
	command("query", "-p", policy, "--as", "ben", "--dataset", "hospital", people).wants(t, 0, "free")

	withInput(t, "SELECT COUNT(*)\nFROM patients\n")
	asks(policy, "-").wants(t, 0, "free")
	withInput(t, "SELECT COUNT(*)\nFROM patents\n")
	asks(policy, "-").wants(t, 2, `there is no table "patents"`, "\n  FROM patents\n       ^\n")
	withInput(t, "")
	asks(policy, "-").wants(t, 2, "the question is empty")
	withInput(t, strings.Repeat("x", 2<<20))
	asks(policy, "-").wants(t, 2, "longer than")
	if r := spent(t, policy); r.Charges != 3 || r.Answers != 3 {
		t.Errorf("%d charges and %d answers; want three of each", r.Charges, r.Answers)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	explain := func(more ...string) result {
		return command(append([]string{"explain", "--policy", policy, "--as", "ana"}, more...)...)
	}
	explain("SELECT ward, AVG(cost) FROM visits GROUP BY ward").wants(t, 0, "count(cost)", "laplace", "12 (l1)", "rows: 3",
		"at most 6 rows in each of at most 2 groups", "price: epsilon 0.1; left: epsilon 1, about 10 at this price\n")
	e := explain("--json", people).wants(t, 0).decode(t)
	if e["known"] != false || e["affordable"] != true || len(e["questions"].([]any)) != 1 {
		t.Errorf("got %v", e)
	}
	explain("SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 1").wants(t, 0, "top 1, permute-and-flip",
		"rows: 1, chosen from 5", "key zip: public: listed by the owner, 5 values", "left after it: epsilon 0.9")
	explain("SELECT MEDIAN(age) FROM patients UNION ALL SELECT COUNT(*) FROM visits").wants(t, 0, "question 2 of 2, about visits",
		"exponential, on ranks", "the query around the answers", "2 questions share epsilon equally")
	explain("--set", "dp.error=20", people).wants(t, 0, "pays the least epsilon that gives the error asked for")
	explain("--set", "dp.error=1", people).wants(t, 2, "an error of")
	explain("--set", "dp.eror=1", people).wants(t, 2, "there is no setting")
	explain("--set", "dp.confidence=0.5", people).wants(t, 0, "±50%")
	explain("--epsilon", "0.6", people).wants(t, 2, "at most 0.5")
	explain("SELECT * FROM patients").wants(t, 2, "  SELECT * FROM patients\n", "^")
	asks(policy, "SELECT COUNT(*) FROM patients WHERE age > 3").wants(t, 0)
	for i := range 2 {
		asks(policy, "--epsilon", "0.4", fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i)).wants(t, 0)
	}
	explain("SELECT COUNT(*) FROM patients WHERE age > 3").wants(t, 0, "free now")
	explain("--epsilon", "0.2", people).wants(t, 0, "more than what is left; left: epsilon 0.1")
	if r := spent(t, policy); r.Charges != 3 || r.Answers != 3 {
		t.Errorf("%d charges and %d answers; explanations must not add any", r.Charges, r.Answers)
	}
}

// Answers of every shape are printed: without errors, with some, and around other answers.
func TestPrintedAnswers(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	for text, says := range map[string][]string{
		"SELECT sex, MEDIAN(age), COUNT(*), SUM(age) / COUNT(*) AS mean FROM patients GROUP BY sex": {"median", "mean",
			"±95%", "note: quantile(0.5 of age)"},
		"SELECT MAX(age) FROM patients":                                        {"note: max is the 99 % quantile"},
		"SELECT sum(n) FROM (SELECT COUNT(*) AS n FROM patients) AS t":         {"note: error bars are known for the answers inside"},
		"SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) LIMIT 2":      {"zip\n-----\n"},
		"SELECT sex, AVG(age) FROM patients GROUP BY sex HAVING COUNT(*)<-1e9": {"sex  avg"},
	} {
		asks(policy, text).wants(t, 0, append(says, "price: epsilon 0.1")...)
	}
	asks(policy, "--json", "SELECT sum(n) FROM (SELECT COUNT(*) AS n FROM patients) AS t").wants(t, 0, `"errors": null`)
}

func TestBudget(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	command("budget", "-p", policy).wants(t, 0, "hospital/ben", "epsilon 0 of 0.5", "a question at epsilon e takes e")
	for i, epsilon := range []string{"0.4", "0.1"} {
		command("query", "-p", policy, "--as", "ben", "--epsilon", epsilon,
			fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", i)).wants(t, 0)
	}
	command("query", "-p", policy, "--as", "ben", people).wants(t, 3, `budget exhausted: the budget of "hospital/ben"`, "Nothing was spent")
	command("query", "-p", policy, "--as", "ben", "--json", people).fails(t, 3, "budget")
	command("budget", "-p", policy).wants(t, 0, "hospital/ben    0.5  ████████████████████    0.5")
	accounts := command("budget", "-p", policy, "--json").wants(t, 0).decode(t)["accounts"].([]any)
	if len(accounts) != 3 || accounts[2].(map[string]any)["name"] != "hospital/ben" {
		t.Errorf("got %v", accounts)
	}
	command("budget", "-p", deploy(t, concentrated)).wants(t, 0, "amounts are rho", "epsilon 0 of 1 at delta 1e-06")
}

// fake is an answer with wide letters, and with keys that would like to move the cursor.
func fake() *api.Answer {
	two := int64(2)
	half := func(f float64) *float64 { return &f }
	return &api.Answer{
		Columns: []api.Column{{Name: "city", Decimals: -1}, {Name: "count", Noisy: true}, {Name: "sum", Noisy: true, Decimals: 2},
			{Name: "avg", Noisy: true, Decimals: -1}},
		Rows: [][]any{
			{"Zürich", json.Number("12"), json.Number("-3.50"), json.Number("41.23456789")},
			{"東京", json.Number("1234567"), json.Number("0.05"), json.Number("0.5")},
			{nil, json.Number("-7"), json.Number("100.00"), json.Number("110")},
			{"a\x1b[2J\r\nb\u202ec\u009b", json.Number("0"), json.Number("0.00"), json.Number("55")},
			{true, json.Number("1"), json.Number("1.00"), json.Number("1e-7")},
		},
		Errors: [][]*float64{
			{nil, half(30), half(12.5), half(0.0123)},
			{nil, half(30), half(12.5), half(55)},
			{nil, half(30), half(12.5), half(110)},
			{nil, half(30), half(12.5), half(0)},
			{nil, half(30), half(12.5), half(3)},
		},
		Cost:      dp.Cost{Epsilon: dp.One / 4, Rho: dp.One / 8},
		Remaining: api.Remaining{Epsilon: dp.One / 2, Rho: dp.Unbounded},
		More:      &two,
	}
}

func TestPrintAnswer(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	render.Answer(&b, fake())
	const want = `
city           count  ±95%     sum   ±95%     avg   ±95%
-----------  -------  ----  ------  -----  ------  -----
Zürich            12    30   -3.50  12.50  41.235  0.012
東京         1234567    30    0.05  12.50       0     55
NULL              -7    30  100.00  12.50     110    110
a?[2J??b?c?        0    30    0.00  12.50   55.00   0.00
true               1    30    1.00  12.50     0.0    3.0
price: epsilon 0.25; left: epsilon 0.5, about 2 more at this price
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestJSON holds what machines read against testdata/json. A case is a command in one line, with
// the members of its output that have noise after a #, and further arguments, one in a line. POLICY
// stands for the path of a copy of testdata/json/policy.yaml, and FOLDER for where it is.
func TestJSON(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/json/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	if flag.Lookup("rewrite").Value.String() != "true" { // every day half of the files
		files = daily.Sample(t, files, len(files)/2)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			policy := filepath.Join(t.TempDir(), "policy.yaml")
			write(t, policy, contents(t, "testdata/json/policy.yaml"))
			for i, folder := range []string{"data", "other"} {
				must(t, hospital.New(300, uint64(i+1)).Write(beside(policy, folder)))
			}
			labels, predictions := "label\n", "prediction\n"
			for i := range 400 {
				labels += fmt.Sprintln(i % 3 / 2)
				predictions += fmt.Sprintln(i % 2)
			}
			write(t, beside(policy, "labels.csv"), labels)
			write(t, beside(policy, "predictions.csv"), predictions)
			golden.Run(t, file, func(question string) string {
				lines := strings.Split(strings.NewReplacer("POLICY", policy, "FOLDER", beside(policy)).Replace(question), "\n")
				line, noisy, _ := strings.Cut(lines[0], " # ")
				r := command(append(strings.Fields(line), lines[1:]...)...)
				out := strings.NewReplacer(policy, "POLICY", beside(policy), "FOLDER").Replace(r.out + r.err)
				return fmt.Sprintf("exit %d\n%s", r.code, golden.Mask(out, strings.Fields(noisy)...))
			})
		})
	}
}

func TestBudgetForecast(t *testing.T) {
	onThatDay(t)
	policy := deploy(t, tenQuestions)
	command("budget", "-p", policy).wants(t, 0, "hospital/ben", "lasts: nothing has been spent yet", "0 %").lacks(t,
		" half  ", "LOW", "out of order")
	s := newScribe(t, policy)
	s.charge("a", day(10), dp.One/8, 0)
	s.charge("b", day(5), dp.One/8, 0)
	s.save()
	command("budget", "-p", policy).wants(t, 0, "it is too early to say: 2 charges in 10 days", "25 %")

	policy = deploy(t, tenQuestions)
	s = newScribe(t, policy)
	for i, ago := range []float64{10, 7, 5, 1} {
		s.charge(string(rune('a'+i)), day(ago), dp.One/8, 0)
	}
	s.save()
	r := command("budget", "-p", policy).wants(t, 0, "50 %  half", "lasts until 2026-11-25, 10 days (epsilon 0.05 a day over 10 days)",
		"·█··█·█···█·")
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("there are colours without a terminal: %q", r.out)
	}
	j := command("budget", "-p", policy, "--json").wants(t, 0).decode(t)
	a := j["accounts"].([]any)[0].(map[string]any)
	f := a["forecast"].(map[string]any)
	if a["name"] != "hospital" || f["status"] != "lasting" || f["charges"] != 4.0 || f["until"] != "2026-11-25" ||
		f["claim"] != "epsilon" || j["mended_times"] != 0.0 {
		t.Errorf("got %v", a)
	}
	if ben := j["accounts"].([]any)[2].(map[string]any); ben["forecast"].(map[string]any)["status"] != "too early" {
		t.Errorf("got %v", ben)
	}
}

// Clocks that were wrong, recoveries, and accounts at their end.
func TestBudgetEdges(t *testing.T) {
	onThatDay(t)
	policy := deploy(t, tenQuestions)
	s := newScribe(t, policy)
	for i, ago := range []float64{10, 20_000, -900, 5, 1} {
		s.charge(string(rune('a'+i)), day(ago), dp.One/8, 0)
	}
	s.add(&ledger.Record{Kind: ledger.KindRecovery, Time: day(1), Reason: "the disk",
		Balances: []ledger.Balance{{Account: "hospital", Spent: dp.Cost{Epsilon: dp.One / 100 * 97, Rho: dp.Unbounded}}}})
	s.save()
	picture := beside(policy, "out.svg")
	command("budget", "-p", policy, "--plot", picture).wants(t, 0, "97 %  ALMOST OUT", "62 %  half",
		"lasts until 2026-11-21, 6 days (epsilon 0.0625 a day over 10 days)", "2 charges have times out of order",
		"wrote ").lacks(t, "20000", "55 days")
	if text := contents(t, picture); !strings.Contains(text, "limit of hospital") || !strings.Contains(text, "epsilon") {
		t.Errorf("the picture is %.300s", text)
	}

	policy = deploy(t, tenQuestions)
	s = newScribe(t, policy)
	s.charge("all", day(3), dp.One, 0)
	s.save()
	command("budget", "-p", policy).wants(t, 0, "100 %  NOTHING LEFT", "is used up")

	policy = deploy(t, tenQuestions)
	s = newScribe(t, policy)
	s.owner()
	s.topUp(day(9), dp.One)
	for i := range 4 {
		s.charge(string(rune('a'+i)), day(90), dp.One/8, dp.One)
	}
	s.save()
	command("budget", "-p", policy).wants(t, 0, "nothing was spent in the last 30 days", "25 %")
	picture = beside(policy, "out.png")
	command("budget", "-p", policy, "--plot", picture).wants(t, 0)
	must(t, errorOf(png.Decode(bytes.NewReader([]byte(contents(t, picture))))))
	// Also of a ledger without charges, and of several datasets.
	command("budget", "-p", deploy(t, concentrated), "--plot", picture).wants(t, 0)
	for file, says := range map[string]string{"out.gif": "ends in .svg or .png", "/no/such/out.png": "this folder does not exist"} {
		command("budget", "-p", policy, "--plot", file).wants(t, 2, says)
	}
	if _, err := os.Stat("out.gif"); err == nil {
		t.Error("out.gif was written")
	}
}

// A dataset that was renamed has a second budget, which only the ledger can tell.
func TestBudgetOfARenamedDataset(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	asks(policy, people).wants(t, 0)
	command("budget", "-p", policy).wants(t, 0).lacks(t, "does not name")
	replace(t, policy, "  hospital:", "  clinic:")
	command("budget", "-p", policy).wants(t, 0, `charges of a dataset "hospital", which the policy does not name`)
}
