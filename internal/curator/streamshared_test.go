package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
)

// Many who ask the same at once pay once, and all get the same number; the sum of what answers cost
// is what was charged.
func TestStreamConcurrently(t *testing.T) {
	w := streamWorld(t, plenty, "")
	conditions := []string{"sex = 'F'", "smoker", "sex = 'M' AND smoker", "diagnosis = 'flu'"}
	var mu sync.Mutex
	values, sum := map[string]int64{}, dp.Amount(0)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			text := conditions[i%len(conditions)]
			var got int64
			var cost dp.Cost
			if i%3 == 0 {
				a, err := w.ask("SELECT COUNT(*) FROM patients WHERE " + text)
				if err != nil {
					t.Error(err)
					return
				}
				got, cost = number64(t, a.Rows[0][0]), a.Cost
			} else {
				a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: []string{"ana", "ben"}[i%2], SQL: text})
				if err != nil {
					t.Error(err)
					return
				}
				got, cost = a.Value, a.Cost
			}
			mu.Lock()
			defer mu.Unlock()
			if v, ok := values[text]; ok && v != got {
				t.Errorf("%s: %d and %d", text, v, got)
			}
			values[text] = got
			sum += cost.Epsilon
		})
	}
	all.Wait()
	if got := w.spent().Epsilon; got != sum {
		t.Errorf("%v was charged, and answers cost %v", got, sum)
	}
}

// Other data has a stream of its own, and data that is again what it was the one that it had.
func TestStreamVersions(t *testing.T) {
	w := streamWorld(t, plenty, "")
	path := filepath.Join(w.dir, "data", "patients.csv")
	first, err := os.ReadFile(path)
	w.check(err)
	lines := strings.SplitAfter(string(first), "\n")
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"}
	put := func(text string) {
		t.Helper()
		w.check(os.WriteFile(path, []byte(text), 0o600))
		w.data.Close()
		w.data, err = duckdb.Open(ctx, w.dataset)
		w.check(err)
		w.runner.engine = w.data
	}
	var values []string
	for i, text := range []string{string(first), strings.Join(lines[:len(lines)/2], ""), string(first),
		strings.Join(lines[:len(lines)/2], "")} {
		put(text)
		a, err := w.Streams.Ask(ctx, q)
		w.check(err)
		values = append(values, fmt.Sprint(a.Value, " ", a.Version.Number))
		if a.Free != (i >= 2) {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if values[0] != values[2] || values[1] != values[3] || values[0] == values[1] {
		t.Errorf("%v", values)
	}
}
