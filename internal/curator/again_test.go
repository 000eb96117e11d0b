package curator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
)

// free asks what was asked before and checks that it is the same answer, free.
func (w *world) free(r *recorder, analyst, text string, want *api.Answer) {
	w.t.Helper()
	before := w.records()
	r.take()
	a, err := w.askAs(analyst, text, 0)
	if err != nil {
		w.t.Errorf("%s: %v", text, err)
		return
	}
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.records() != before || a.Receipt.Sequence != want.Receipt.Sequence {
		w.t.Errorf("%s as %s: cost %v, receipt %+v; want it free", text, analyst, a.Cost, a.Receipt)
	}
	if numbers(a) != numbers(want) {
		w.t.Errorf("%s: %v; before %v", text, numbers(a), numbers(want))
	}
	if calls := r.take(); slices.Contains(calls, "run") || slices.Contains(calls, "charge") {
		w.t.Errorf("%s: %v", text, calls)
	}
}

// charged asks what is a new question and checks that it is charged.
func (w *world) charged(analyst, text string, epsilon dp.Amount) *api.Answer {
	w.t.Helper()
	before := w.records()
	a, err := w.askAs(analyst, text, epsilon)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	if a.Receipt.Free || a.Cost.Epsilon == 0 || w.records() != before+2 {
		w.t.Errorf("%s: cost %v, receipt %+v; want it charged", text, a.Cost, a.Receipt)
	}
	return a
}

func TestAgain(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	first := w.charged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", 0)
	for _, text := range []string{
		"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex",
		"select  SEX , count( * ) from PATIENTS\n where 40 <= age and smoker /* again */ group by 1;",
		"SELECT p.sex, COUNT(1) AS n FROM patients p WHERE (smoker) AND p.age >= 40.0 AND 1 = 1 GROUP BY p.sex",
		"SELECT sex, COUNT(*) FROM patients WHERE age >= 40 AND smoker AND age >= 40 GROUP BY sex LIMIT 10 OFFSET 0",
	} {
		w.free(r, "ana", text, first)
		w.free(r, "ben", text, first)
	}
	// What is done after the noise is free, and is done to the same numbers.
	for _, c := range []struct {
		text string
		rows []int
	}{
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex ORDER BY sex DESC", []int{2, 1, 0}},
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex ORDER BY sex LIMIT 1 OFFSET 1", []int{1}},
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex HAVING sex <> 'M'", []int{0, 2}},
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex HAVING COUNT(*) > 100000", nil},
	} {
		part := *first
		part.Rows = nil
		for _, i := range c.rows {
			part.Rows = append(part.Rows, first.Rows[i])
		}
		w.free(r, "ana", c.text, &part)
	}
	// Another epsilon is another answer, and so is another condition.
	w.charged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", amount("0.2"))
	w.charged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age > 40 GROUP BY sex", 0)
	w.charged("ana", "SELECT COUNT(*) FROM patients WHERE smoker AND age >= 40", 0)
	w.free(r, "ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", first)

	w.reopen()
	w.free(w.record(), "ben", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", first)
}

func TestChangedDataIsCharged(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	const text = "SELECT COUNT(*) FROM patients"
	first := w.charged("ana", text, 0)
	file := filepath.Join(w.dir, "data", "patients.csv")
	old, err := os.ReadFile(file)
	w.check(err)
	w.check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.dir, "data")))
	second := w.charged("ana", text, 0)
	w.free(r, "ana", text, second)
	// The same bytes again are the same data again.
	w.check(hospital.New(200, 1).Write(filepath.Join(w.dir, "data")))
	if now, _ := os.ReadFile(file); string(now) != string(old) {
		t.Fatal("the hospital is not the same")
	}
	w.free(r, "ana", text, first)
}

// An answer of another shape than the question's is not read as one.
func TestStoredAnswerOfAnotherShape(t *testing.T) {
	w := newWorld(t, plenty)
	p, err := w.prepare(ctx, api.Question{Analyst: "ana", SQL: "SELECT sex, COUNT(*) FROM patients GROUP BY sex"})
	w.check(err)
	b := p.Purchases[0]
	wrap := func(inside string) string { return `{"version":3,"purchases":{"` + b.Hash() + `":` + inside + `}}` }
	for _, stored := range []string{"", "{}", "[]", `{"measures":[[1,2,3]]}`, wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`)[:40],
		strings.Replace(wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`), `"version":3`, `"version":2`, 1),
		strings.Replace(wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`), b.Hash(), "0", 1),
		wrap(`{}`), wrap(`{"measures":[]}`), wrap(`{"measures":[[1,2]],"quantiles":[null]}`), wrap(`{"measures":[[1,2,3],[1,2,3]],"quantiles":[null,null]}`),
		wrap(`{"measures":[[1,2,3.5]],"quantiles":[null]}`), wrap(`{"measures":[[1,2,99999999999999999999]],"quantiles":[null]}`),
		wrap(`{"measures":[[1,2,3]],"quantiles":[null],"keys":[[{"s":"a"}]]}`), wrap(`{"chosen":[1]}`)} {
		if _, err := decode(b, []byte(stored)); err == nil {
			t.Errorf("%s was read", stored)
		}
	}
	if got, err := decode(b, []byte(wrap(`{"measures":[[1,2,3]],"quantiles":[null]}`))); err != nil || got.Measures[0][2] != 3 {
		t.Errorf("got %v, %v", got, err)
	}
}
