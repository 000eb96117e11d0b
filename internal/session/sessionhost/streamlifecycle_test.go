package sessionhost_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// A stream does not count people of data that was there for so long as it was read.
func TestStreamOfOtherData(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	was := hospital.New(200, 1)
	w.WriteData(was)
	w.Wire.Engine = &curatortest.LoadingEngine{Engine: w.Wire.Engine, Load: func() { w.WriteData(hospital.New(5000, 2)) },
		Back: func() { w.WriteData(was) }}
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"}
	if a, err := w.Streams.Ask(ctx, q); err == nil {
		t.Errorf("%d people are counted in other data", a.Value)
	}
	if _, err := w.Streams.Ask(ctx, q); err != nil {
		t.Error(err)
	}
}

// Who asks a stream on several servers gets one number for one question, all servers have one
// journal, and what answers cost is what was charged.
func TestStreamOnServers(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	servers := w.Servers(3)
	conditions := []string{"sex = 'F'", "smoker", "sex = 'M' AND smoker", "diagnosis = 'flu'", "diagnosis = 'HIV'", "sex = 'X'"}
	var mu sync.Mutex
	values, sum := map[string]int64{}, dp.Amount(0)
	var all sync.WaitGroup
	for i := range 36 {
		all.Go(func() {
			text := conditions[i%len(conditions)]
			a, err := servers[i%3].Streams.Ask(ctx, api.StreamQuestion{Analyst: []string{"ana", "ben"}[i%2], SQL: text})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if v, ok := values[text]; ok && v != a.Value {
				t.Errorf("%s: %d and %d", text, v, a.Value)
			}
			values[text] = a.Value
			sum += a.Cost.Epsilon
		})
	}
	all.Wait()
	if got := w.Spent().Epsilon; got != sum {
		t.Errorf("%v was charged, and answers cost %v", got, sum)
	}
	for i, c := range servers { // one after the other, each sees what the others did
		text := []string{"smoker AND diagnosis = 'flu'", "sex = 'X' AND smoker", "NOT smoker"}[i]
		if _, err := c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: text}); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
	}
	fresh := curator.New(w.Dataset, w.Data, servers[1].Ledger, curatortest.Seeded(70)) // which reads the whole journal
	for text, v := range values {
		if a, err := fresh.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: text}); err != nil || a.Value != v || !a.Free {
			t.Errorf("%s: %+v, %v; it was %d", text, a, err, v)
		}
	}
}

func TestSessionsStreamWindow(t *testing.T) {
	w := curatortest.Build(t, curatortest.Large(),
		curatortest.WithStream(hospital.Dataset("hospital", "data",
			"{epsilon: 5, per_query: {default: 0.5, max: 5}, renewal: {every: month, windows: 3}}"), curatortest.Crowd,
			"        alpha: 0.05\n        queries: 100000\n"), 1)
	sets := func(i int) api.StreamQuestion {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		where := map[string][]string{}
		infos, err := w.Streams.List()
		w.Check(err)
		for _, a := range infos[0].Attributes {
			for _, v := range a.Values {
				if r.IntN(2) == 0 {
					where[a.Name] = append(where[a.Name], v)
				}
			}
		}
		return api.StreamQuestion{Analyst: "ana", Where: where}
	}
	i := 0
	opened := false
	for ; i < 600 && !opened; i++ {
		a, err := w.Streams.Ask(ctx, sets(i))
		if err != nil {
			t.Log(err)
			break
		}
		opened = a.Way == stream.Predicted
	}
	if !opened {
		t.Fatalf("no round in %d", i)
	}
	_, err := w.Renew(ctx, "next")
	w.Check(err)
	free := 0
	for ; i < 3000; i++ {
		a, err := w.Streams.Ask(ctx, sets(i))
		w.Check(err)
		if a.Way != stream.Predicted && a.Way != stream.Paid || !a.Free {
			break
		}
		free++
		if a.Way == stream.Paid {
			t.Errorf("a noisy answer in window 2, and its account was charged nothing")
			break
		}
	}
	if free > 0 {
		t.Errorf("%d comparisons in window 2 on a round of window 1", free)
	}
}

// Who stops waiting while the cells are counted has the engine count them again, for the same
// charge, as often as they like: each time is a bit about how long that takes.
func TestSessionsStreamLoadCancelled(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	r := w.Record()
	runs := 0
	var stop context.CancelFunc
	r.Before["run"] = func() error { runs++; stop(); return nil }
	for range 5 {
		c, cancel := context.WithCancel(ctx)
		stop = cancel
		_, err := w.Streams.Ask(c, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
		t.Logf("%v", err)
		cancel()
	}
	if runs > 1 {
		t.Errorf("the engine ran %d times, and was charged for %d times", runs, chargesOf(w, ""))
	}
	// What an answer says that it cost is what it cost.
	r.Before["run"] = nil
	before := w.Spent()
	a, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	w.Check(err)
	if got := w.Spent().Epsilon.Sub(before.Epsilon); got != a.Cost.Epsilon {
		t.Errorf("the answer says it cost %v, and %v was spent", a.Cost.Epsilon, got)
	}
}
