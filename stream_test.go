package discreet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/policycheck"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/policy"
)

const streamed = `    streams:
      people:
        table: patients
        columns: {sex: , smoker: , age: {width: 37}}
        size: 20000
        alpha: 0.05
`

func streamDB(t testing.TB, dir string) *discreet.DB {
	t.Helper()
	path := filepath.Join(dir, "policy.yaml")
	if _, err := os.Stat(path); err != nil {
		if err := hospital.New(5000, 1).Write(filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
		text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 2, per_query: {default: 0.1, max: 1}}") + streamed
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := discreet.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// A stream through the library: what it is, a price, an answer, the same again after a restart,
// its accounts and its table.
func TestStream(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := streamDB(t, dir)
	all, err := db.Streams("")
	if err != nil || len(all) != 1 || all[0].Name != "people" || all[0].Error != 1000 || len(all[0].Attributes) != 3 ||
		all[0].Plain.Epsilon == 0 ||
		all[0].Cells != int64(len(all[0].Attributes[0].Values)*len(all[0].Attributes[1].Values)*len(all[0].Attributes[2].Values)) {
		t.Fatalf("%+v %v", all, err)
	}
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F' AND age >= 37"}
	quote, err := db.QuoteStream(ctx, q)
	if err != nil || quote.Cost.Epsilon == 0 {
		t.Fatalf("%+v %v", quote, err)
	}
	a, err := db.AskStream(ctx, q)
	if err != nil || a.Error == nil || a.Cost.Epsilon > quote.Cost.Epsilon {
		t.Fatalf("%+v %v", a, err)
	}
	// The labels mean the same, and so does a SELECT.
	for _, same := range []api.StreamQuestion{
		{Analyst: "ben", Where: map[string][]string{"sex": {"F"}, "age": all[0].Attributes[2].Values[1:]}},
		{Analyst: "ben", SQL: "SELECT COUNT(*) FROM patients WHERE NOT (age < 37) AND sex IN ('F')"},
	} {
		b, err := db.AskStream(ctx, same)
		if err != nil || b.Value != a.Value || !b.Free {
			t.Errorf("%+v: %+v %v", same, b, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = streamDB(t, dir)
	defer db.Close()
	b, err := db.AskStream(ctx, q)
	if err != nil || b.Value != a.Value || !b.Free || b.Way != "cached" {
		t.Errorf("after a restart: %+v %v", b, err)
	}
	report, err := db.StreamReport(ctx, "hospital", "people")
	if err != nil || report.Different != 1 || report.Spent.Epsilon != a.Cost.Epsilon {
		t.Errorf("%+v %v", report, err)
	}
	table, err := db.Synthetic(ctx, "", "", "ana")
	if err != nil || len(table.Columns) != 3 || len(table.Rows) == 0 || table.Total < 1 {
		t.Errorf("%+v %v", table, err)
	}
	var no *api.Refusal
	if _, err := db.AskStream(ctx, api.StreamQuestion{Analyst: "ana", SQL: "age > 20"}); !errors.As(err, &no) {
		t.Errorf("%v", err)
	}
}

// A stream that nobody could ask is told to the owner before.
func TestCheckStreams(t *testing.T) {
	for text, want := range map[string]string{streamed: "",
		strings.Replace(streamed, "alpha: 0.05", "alpha: 0.05\n        budget: 0.001", 1): "dataset hospital: stream people: "} {
		p, err := policy.Parse("p.yaml", []byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 2}")+text))
		if err != nil {
			t.Fatal(err)
		}
		if err := policycheck.Streams(p); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestRehearseStream(t *testing.T) {
	ctx := context.Background()
	db := streamDB(t, t.TempDir())
	defer db.Close()
	var workload []string
	for _, sex := range []string{"F", "M", "X"} {
		for _, more := range []string{"smoker", "NOT smoker", "age < 37", "age >= 37", "age >= 74", "smoker AND age < 74"} {
			workload = append(workload, "sex = '"+sex+"' AND "+more, more)
		}
	}
	steps := 0
	r, err := db.RehearseStream(ctx, "hospital", "people", workload, func(int) { steps++ })
	if err != nil {
		t.Fatal(err)
	}
	if steps != 4*len(workload) || len(r.Series) != 4 || r.Beyond != 0 || r.MaxError > r.Bound || r.Report.Different != 24 {
		t.Errorf("%d steps: %+v", steps, r)
	}
	for _, s := range r.Series {
		last := s.Points[len(s.Points)-1]
		if last.Queries != len(workload) || last.Cost <= 0 || s.Points[0].Cost != 0 {
			t.Errorf("%s: %+v", s.Name, s.Points)
		}
	}
	// Nothing was charged, and the stream knows nothing of it.
	if left, err := db.Remaining(ctx, "", "ana"); err != nil || left.Epsilon.String() != "2" {
		t.Errorf("%+v %v", left, err)
	}
	if report, err := db.StreamReport(ctx, "", ""); err != nil || report.Asked != 0 {
		t.Errorf("%+v %v", report, err)
	}
	var wrong *api.WorkloadError
	if _, err := db.RehearseStream(ctx, "", "", []string{"smoker", "cost > 3"}, nil); !errors.As(err, &wrong) || wrong.Index != 1 ||
		!strings.Contains(err.Error(), "cells") {
		t.Errorf("%v", err)
	}
}
