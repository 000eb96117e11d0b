package curator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// How many people there are is exact and free where people are replaced, and nothing is written
// about it; an average pays for its sum alone.
func TestPeopleArePublic(t *testing.T) {
	h := hospital.New(300, 1)
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		w := curatortest.Build(t, h, curatortest.CountedPeople(budget), 1)
		for _, text := range []string{"SELECT COUNT(*) FROM patients", "SELECT COUNT(DISTINCT pid) FROM patients",
			"SELECT COUNT(1) FROM patients", "SELECT COUNT(age) FROM patients",
			"SELECT COUNT(*) FROM (SELECT age + 1 AS x FROM patients) AS t"} {
			a := w.MustAsk(text)
			if got := fmt.Sprint(a.Rows); got != fmt.Sprintf("[[%d]]", len(h.Patients)) || !a.Receipt.Free || a.Cost != (dp.Cost{}) ||
				w.RecordCount() != 0 || a.Columns[0].Noisy || !curatortest.ContainsAll(strings.Join(a.Notes, "\n"), "300, exactly") ||
				a.Cut {
				t.Errorf("%s: %s, receipt %+v, %d records, columns %+v, notes %q", text, got, a.Receipt, w.RecordCount(), a.Columns,
					a.Notes)
			}
			e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
			w.Check(err)
			if e.Pay != (dp.Cost{}) || !e.Known || e.Split != "nothing is released: public numbers are free" ||
				!curatortest.ContainsAll(strings.Join(e.Free, "\n"), "how many people there are: 300") {
				t.Errorf("%s: explained as %+v", text, e)
			}
		}
		for text, releases := range map[string]int{
			"SELECT AVG(age) FROM patients":                                 1,
			"SELECT COUNT(*), SUM(age), AVG(age) FROM patients":             1,
			"SELECT AVG(age), VAR_POP(age), STDDEV(age) FROM patients":      2,
			"SELECT AVG(cost) FROM patients":                                2, // there may be NULL
			"SELECT AVG(age), COUNT(*) FROM patients WHERE age > 3":         2,
			"SELECT sex, AVG(age) FROM patients GROUP BY sex":               2,
			"SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)":      2, // in two questions
			"SELECT COUNT(*) FILTER (WHERE smoker), COUNT(*) FROM patients": 1,
		} {
			e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
			w.Check(err)
			got := 0
			for _, q := range e.Questions {
				got += len(q.Measures)
			}
			if got != releases {
				t.Errorf("%s: %d releases, and %d were expected", text, got, releases)
			}
		}
		// What is computed of it.
		a := w.MustAsk("SELECT COUNT(*) * 2 AS twice, dp_error(COUNT(*)), dp_low(COUNT(*)), SUM(age) / COUNT(*) " +
			"FROM patients HAVING COUNT(*) = 300")
		if fmt.Sprint(a.Rows[0][:3]) != "[600 0 300]" || a.Columns[0].Noisy || !a.Columns[3].Noisy || a.Errors[0][3] == nil {
			t.Errorf("%v %v", a.Rows, a.Columns)
		}
		if a := w.MustAsk("SELECT COUNT(*) FROM patients HAVING COUNT(*) > 300"); len(a.Rows) != 0 {
			t.Error(a.Rows)
		}
	}
}

// An average has the error of its sum over the number of people: a replaced person moves the sum by
// the width of the bounds.
func TestAverageOfEverybody(t *testing.T) {
	h := hospital.New(300, 1)
	w := curatortest.Build(t, h, curatortest.CountedPeople(curatortest.Plenty), 7)
	truth := 0.0
	for _, p := range h.Patients {
		truth += float64(p.Age) / float64(len(h.Patients))
	}
	// Before, half of the price went to a count, and this was above twice as much.
	want := math.Sqrt2 * 110 / 300 / 0.5
	p, _, err := w.Prepared(ctx, api.Question{Analyst: "ana", SQL: "SELECT AVG(age), VAR_POP(age) FROM patients",
		Epsilon: curatortest.Amount("1")})
	w.Check(err)
	exactly, err := w.Data.Run(ctx, query(p))
	w.Check(err)
	const n = 4000
	sum, hits, spread := 0.0, 0.0, 0.0
	for range n {
		a := release(w, p, p, exactly)
		x, err := a.Rows[0][0].(json.Number).Float64()
		w.Check(err)
		sum += (x - truth) * (x - truth) / n
		if math.Abs(x-truth) <= *a.Errors[0][0]+1e-9 {
			hits += 1.0 / n
		}
		v, err := a.Rows[0][1].(json.Number).Float64()
		w.Check(err)
		spread += v / n
	}
	if got := math.Sqrt(sum); math.Abs(got/want-1) > 0.06 {
		t.Errorf("the error of the average is %.4f, and %.4f was expected", got, want)
	}
	if slack := 4 * math.Sqrt(0.95*0.05/n); hits < 0.95-slack || hits > 0.95+2*slack {
		t.Errorf("the error bar holds in %.4f of the answers", hits)
	}
	exact := 0.0
	for _, p := range h.Patients {
		exact += (float64(p.Age) - truth) * (float64(p.Age) - truth) / float64(len(h.Patients))
	}
	if math.Abs(spread/exact-1) > 0.05 {
		t.Errorf("the variance is %.1f on average, and exactly %.1f", spread, exact)
	}
}

// People with many rows are counted once each, and an average of theirs divides by how many there
// are.
func TestPeopleWithManyRows(t *testing.T) {
	text := strings.Replace(curatortest.CountedPeople(curatortest.Plenty), "        unique: pid\n",
		"        max_rows: 3\n        max_groups: 2\n", 1)
	w := curatortest.Build(t, hospital.New(300, 1), text, 1)
	if a := w.MustAsk("SELECT COUNT(DISTINCT pid) FROM patients"); fmt.Sprint(a.Rows) != "[[300]]" || w.RecordCount() != 0 {
		t.Error(a.Rows)
	}
	if a := w.MustAsk("SELECT COUNT(*) FROM patients"); a.Receipt.Free || !a.Columns[0].Noisy {
		t.Error("how many rows there are is not public")
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana",
		SQL: "SELECT AVG(n) FROM (SELECT pid, COUNT(*) AS n FROM patients GROUP BY pid) AS t"})
	w.Check(err)
	if len(e.Questions[0].Measures) != 1 {
		t.Errorf("%+v", e.Questions[0].Measures)
	}
}

// The number is of the state of the data, and is counted again when that changes.
func TestPeopleOfAVersion(t *testing.T) {
	w := curatortest.Build(t, hospital.New(300, 1), curatortest.CountedPeople(curatortest.Plenty), 1)
	w.MustAsk("SELECT COUNT(*) FROM patients")
	w.Check(hospital.New(301, 1).Write(filepath.Join(w.Dir, "data")))
	data, err := duckdb.Open(ctx, w.Dataset)
	w.Check(err)
	defer data.Close()
	w.Wire.Engine = data
	if a := w.MustAsk("SELECT COUNT(*) FROM patients"); fmt.Sprint(a.Rows) != "[[301]]" {
		t.Error(a.Rows)
	}
}

// It is not told where it does not follow from the relation.
func TestPeopleThatArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte("datasets:\n"+curatortest.CountedPeople(curatortest.Plenty)), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	public := made.Datasets["hospital"]
	for what, edit := range map[string]func(string) string{
		"add-remove":     func(s string) string { return strings.Replace(s, "substitute", "add-remove", 1) },
		"lines left out": func(s string) string { return strings.Replace(s, "        bad_lines: refuse\n", "", 1) },
		"a second table": func(s string) string {
			_, visits, _ := strings.Cut(hospital.Dataset("hospital", "data", curatortest.Plenty), "      visits:")
			return s + "      visits:" + visits
		},
	} {
		w := curatortest.Build(t, hospital.New(300, 1), edit(curatortest.CountedPeople(curatortest.Plenty)), 1)
		if a := w.MustAsk("SELECT COUNT(*) FROM patients"); a.Receipt.Free || !a.Columns[0].Noisy {
			t.Errorf("%s: how many people there are was told", what)
		}
		if _, err := w.CountPeople(ctx); !errors.Is(err, engine.ErrPrivate) {
			t.Errorf("%s: %v", what, err)
		}
		// Planted: the query of a policy that makes it public, under this one.
		q := planner.CountPeople(public)
		if err := w.CheckPeople(w.Dataset, q); err == nil {
			t.Errorf("%s: the second check does not object", what)
		}
		if _, _, err := engine.RunPeople(ctx, w.Data, w.Dataset, q); !errors.Is(err, engine.ErrPrivate) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestVersionIsNamed: answers say which version of the data they are about, by a number, and the
// first one after a change says that there was one.
func TestVersionIsNamed(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	load := func(h *hospital.Hospital) { w.Check(h.Write(filepath.Join(w.Dir, "data"))) }
	full, less := hospital.New(200, 1), hospital.New(200, 1).Without(hospital.Target)
	asks := func(text string, number uint64, noted bool) {
		t.Helper()
		a := w.MustAsk(text)
		note := fmt.Sprintf("the data, or how the policy reads it, has changed: answers with receipts before %d are about other data",
			a.Receipt.Sequence)
		if a.Version != (api.DataVersion{Number: number}) || slices.Contains(a.Notes, note) != noted {
			t.Errorf("%s: version %v, notes %q", text, a.Version, a.Notes)
		}
	}
	asks(curatortest.ByAge(1), 1, false)
	asks(curatortest.ByAge(1), 1, false) // free
	asks(curatortest.ByAge(2), 1, false)
	load(less)
	asks(curatortest.ByAge(1), 2, true)
	asks(curatortest.ByAge(1), 2, false)
	asks(curatortest.ByAge(2), 2, false)
	// The data is again what it was, and so is its number, in an answer that is remembered and in a
	// new one.
	load(full)
	asks(curatortest.ByAge(2), 1, false)
	asks(curatortest.ByAge(3), 1, true)
	load(hospital.New(200, 2))
	asks(curatortest.ByAge(1), 3, true)
	w.Reopen()
	asks(curatortest.ByAge(1), 3, false)
	load(less)
	asks(curatortest.ByAge(1), 2, false)
	// The same contents, written once more, are no other version.
	load(less)
	asks(curatortest.ByAge(2), 2, false)
	asks(curatortest.ByAge(4), 2, true)
	asks(curatortest.ByAge(5), 2, false)
}

// guess rebuilds, from what an analyst can know, the hash of a charge that came with a new version
// of the data, and reports whether it is that of the receipt. All is known but the version: the
// time to the nanosecond, what every account has spent, and the hash of the record before.
func guess(t *testing.T, records []*ledger.Record, receipt api.Receipt, version string) bool {
	t.Helper()
	changed, charge := *records[receipt.Sequence-1], *records[receipt.Sequence]
	if changed.Kind != ledger.KindVersion || charge.Kind != ledger.KindCharge {
		t.Fatalf("records %v and %v", changed.Kind, charge.Kind)
	}
	changed.DataVersion, charge.DataVersion = version, version
	charge.Previous = ledger.Hash(changed.Encode())
	return ledger.Hash(charge.Encode()) == receipt.Hash
}

// TestReceiptConfirmsNoGuess: who knows the contents of all files, but for one person, cannot find
// out from receipts which of two databases it is.
func TestReceiptConfirmsNoGuess(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	w.MustAsk(curatortest.ByAge(1))
	w.Check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.Dir, "data")))
	a := w.MustAsk(curatortest.ByAge(1))
	state, err := w.Data.Version(ctx) // what the attacker's guess would have
	w.Check(err)
	contents := state.Key()
	var records []*ledger.Record
	for r, err := range w.Ledger.Records(ctx, 0) {
		w.Check(err)
		records = append(records, r)
	}
	if guess(t, records, a.Receipt, contents) {
		t.Error("a receipt confirms a guess of the contents")
	}
	for _, identity := range []string{"", "hospital", records[0].Identity[:31] + "x"} {
		if guess(t, records, a.Receipt, ledger.VersionID(identity, "hospital", contents)) {
			t.Error("a receipt confirms a guess without the key")
		}
	}
	// The attack itself works: with the key it finds out.
	if !guess(t, records, a.Receipt, ledger.VersionID(records[0].Identity, "hospital", contents)) {
		t.Error("the attack does not rebuild the receipt, so that it fails says nothing")
	}
	// The ledger itself holds no hash of the contents.
	for _, r := range records {
		if strings.Contains(r.Encode(), contents) {
			t.Errorf("record %d holds the hash of the contents", r.Sequence)
		}
	}
}

// TestNobodyIsShownTheVersion: nothing that an analyst gets holds the hash of the contents, what it
// is called in the ledger, or the key.
func TestNobodyIsShownTheVersion(t *testing.T) {
	h := restless(60, 1)
	p := newPair(t, hospital.Dataset("hospital", "data", curatortest.Plenty), h, h.Without(hospital.Target))
	var all []string
	for _, w := range []*curatortest.World{p.a, p.b} {
		state, err := w.Data.Version(ctx)
		w.Check(err)
		contents := state.Key()
		var identity string
		for r, err := range w.Ledger.Records(ctx, 0) {
			w.Check(err)
			identity = r.Identity
			break
		}
		hidden := []string{contents, identity, ledger.VersionID(identity, "hospital", contents)}
		var shown strings.Builder
		for _, text := range []string{curatortest.ByAge(1), curatortest.ByAge(1), "SELECT zip, COUNT(*) FROM patients GROUP BY zip",
			"SELECT nothing FROM patients",
			"SELECT COUNT(*) FROM patients; SELECT 1"} {
			q := api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()}
			a, err := w.Ask(ctx, q)
			e, err2 := w.Explain(ctx, q)
			for _, x := range []any{a, e} {
				b, err := json.Marshal(x)
				w.Check(err)
				shown.Write(b)
			}
			fmt.Fprintln(&shown, err, err2)
			if a != nil && a.Version != (api.DataVersion{Number: 1}) {
				t.Errorf("%s: version %v", text, a.Version)
			}
		}
		for _, secret := range hidden {
			if len(secret) < 32 || strings.Contains(shown.String(), secret) {
				t.Errorf("%q is shown, or is nothing", secret)
			}
		}
		all = append(all, hidden...)
	}
	if all[0] == all[3] {
		t.Error("the neighbours have one version, so the test says nothing")
	}
}
