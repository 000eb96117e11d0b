package discreet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

func TestSparse(t *testing.T) {
	path := deployment(t)
	db := open(t, path)
	q := api.SparseQuestion{Dataset: "north", Analyst: "ana", Epsilon: dp.One / 2, Above: 1, Sensitivity: 1, Values: true,
		Request: "session"}
	s, err := db.OpenSparse(background, q)
	if err != nil {
		t.Fatal(err)
	}
	if s.Cost().Epsilon != dp.One/2 || s.Receipt().Sequence == 0 || s.Left() != 1 {
		t.Errorf("%v %+v", s.Cost(), s.Receipt())
	}
	v, err := s.Ask(background, people, "-100000")
	if err != nil || !v.Above || v.Value == nil || v.Left != 0 || s.Left() != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := s.Ask(background, people, "1"); err != api.ErrSessionUsed {
		t.Error(err)
	}
	left, err := db.Remaining(background, "north", "ana")
	if err != nil || left.Epsilon != dp.One/2 {
		t.Errorf("%+v, %v", left, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// The process ends, and with it what the session knew.
	db = open(t, path)
	var refused *api.Refusal
	if _, err := db.OpenSparse(background, q); !errors.As(err, &refused) || !strings.Contains(err.Error(), "cannot be opened twice") {
		t.Error(err)
	}
	var zero discreet.Sparse
	if _, err := zero.Ask(background, people, "1"); err == nil || zero.Left() != 0 || zero.Cost() != (dp.Cost{}) || zero.Alerts() != nil {
		t.Error("a session that nobody opened answers")
	}
	if _, err := db.OpenSparse(background, api.SparseQuestion{Dataset: "west"}); !errors.As(err, &refused) {
		t.Error(err)
	}
}

func TestRecords(t *testing.T) {
	db := open(t, deployment(t))
	for _, sql := range []string{people, "SELECT COUNT(*) FROM visits"} {
		if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: sql}); err != nil {
			t.Fatal(err)
		}
	}
	var all []*ledger.Record
	for r, err := range db.Records(background, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	for i, want := range all {
		got, err := db.Record(background, want.Sequence)
		if err != nil || got.Encode() != want.Encode() {
			t.Errorf("record %d: %+v, %v", want.Sequence, got, err)
		}
		n := 0
		for r, err := range db.Records(background, want.Sequence+1) {
			if err != nil || r.Sequence != all[i+1+n].Sequence {
				t.Fatalf("after %d: %+v, %v", want.Sequence, r, err)
			}
			n++
		}
		if n != len(all)-i-1 {
			t.Errorf("%d records after the first %d of %d", n, i+1, len(all))
		}
	}
	last := all[len(all)-1].Sequence
	for _, none := range []uint64{last + 1, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
		var missing *ledger.NoRecordError
		if r, err := db.Record(background, none); !errors.As(err, &missing) {
			t.Errorf("record %d: %+v, %v", none, r, err)
		}
	}
	for _, none := range []uint64{last + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
		for r, err := range db.Records(background, none) {
			t.Errorf("from %d: %+v, %v", none, r, err)
		}
	}
}

func TestBudgetOf(t *testing.T) {
	db := open(t, deployment(t))
	for _, who := range []string{"ana", "ben"} {
		if _, err := db.Ask(background,
			api.Question{Dataset: "north", Analyst: who, SQL: people + " WHERE sex = '" + who + "'"}); err != nil {
			t.Fatal(err)
		}
	}
	accounts, err := db.BudgetOf(background, "north", "ben")
	if err != nil || len(accounts) != 1 || accounts[0].Name != "north/ben" || accounts[0].Kind != "analyst" ||
		accounts[0].Spent.Epsilon.String() != "0.1" {
		t.Errorf("%+v, %v", accounts, err)
	}
	var refused *api.Refusal
	for _, c := range [][2]string{{"north", "nobody"}, {"north", "group:x"}, {"west", "ana"}} {
		if _, err := db.BudgetOf(background, c[0], c[1]); !errors.As(err, &refused) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestOptions(t *testing.T) {
	path := deployment(t)
	for i, o := range []discreet.Option{discreet.WithMemory("lots"), discreet.WithMemory("1KB"), discreet.WithThreads(-1),
		discreet.WithThreads(1 << 20)} {
		if db, err := discreet.Open(background, path, o); err == nil {
			db.Close()
			t.Error(i)
		}
	}
	db, err := discreet.Open(background, path, discreet.WithMemory("256MB"), discreet.WithThreads(1))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: people}); err != nil {
		t.Error(err)
	}
}
