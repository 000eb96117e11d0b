package discreet_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// ending is a context that has not ended when it is looked at first, and ends then: at once, or
// when it is looked at again.
type ending struct {
	context.Context
	end    context.CancelFunc
	atOnce bool
	looks  atomic.Int64
}

func (e *ending) Err() error {
	first := e.looks.Add(1) == 1
	if !first || e.atOnce {
		e.end()
	}
	if first {
		return nil
	}
	return e.Context.Err()
}

// A process that died counts once, also where whoever opens the ledger next does not wait for it:
// the ledger is closed in order then, after which nothing else remembers.
func TestCrashAndContext(t *testing.T) {
	path := deployment(t)
	db := open(t, path)
	session, err := db.OpenSparse(background, api.SparseQuestion{Dataset: "north", Analyst: "ana", Epsilon: dp.One / 8, Above: 1,
		Sensitivity: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Ask(background, people, "500"); err != nil {
		t.Fatal(err)
	}
	for _, atOnce := range []bool{true, false} {
		path := filepath.Join(died(t, filepath.Dir(path)), "policy.yaml")
		var mu sync.Mutex
		told := 0
		tell := discreet.WithIncidents(func(api.Incident) {
			mu.Lock()
			defer mu.Unlock()
			told++
		})
		ctx, end := context.WithCancel(background)
		if db, err := discreet.Open(&ending{Context: ctx, end: end, atOnce: atOnce}, path, tell); err == nil {
			db.Close()
		}
		for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) { // it may still be open
			db, err := discreet.Open(background, path, tell)
			if err == nil {
				db.Close()
				break
			}
			if time.Since(begin) > 10*time.Second {
				t.Fatal(err)
			}
		}
		mu.Lock()
		if told != 1 {
			t.Errorf("at once: %v; a process that died counts %d times", atOnce, told)
		}
		mu.Unlock()
	}
}
