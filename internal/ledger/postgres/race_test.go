package postgres

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// outcome is what clients were told.
type outcome struct {
	mu       sync.Mutex
	receipts map[string]ledger.Receipt // by request: the first one
	answers  map[string]string         // by request: what was kept and released
	refused  atomic.Int64
	unclear  atomic.Int64
	again    atomic.Int64
}

func newOutcome() *outcome {
	return &outcome{receipts: map[string]ledger.Receipt{}, answers: map[string]string{}}
}

// client asks for one request as a server does that must not answer twice: it charges, keeps, and
// tells what was kept. It tries again where it is told to, under the same name.
func (o *outcome) client(t *testing.T, l ledger.Ledger, request string, limit int) {
	for try := 0; try < 100; try++ {
		r, err := l.Charge(ctx, ask(request, hospital(limit)))
		var write *ledger.WriteError
		switch {
		case errors.As(err, new(*ledger.BudgetError)):
			o.refused.Add(1)
			return
		case errors.As(err, &write) && write.Broken:
			return // the server has ended
		case errors.As(err, &write):
			o.unclear.Add(1)
			continue
		case err != nil:
			t.Errorf("%s: %v", request, err)
			return
		}
		o.mu.Lock()
		if before, ok := o.receipts[request]; ok && (before.Sequence != r.Sequence || before.Hash != r.Hash) {
			t.Errorf("%s has two receipts: %+v and %+v", request, before, r)
		}
		if r.Again {
			o.again.Add(1)
		}
		o.receipts[request] = r
		o.mu.Unlock()
		answer := fmt.Sprint("noise of ", request, " ", requests.Add(1))
		err = l.Keep(ctx, r.Sequence, "key of "+request, []byte(answer))
		if errors.Is(err, ledger.ErrKept) {
			var kept []byte
			var found bool
			if kept, found, err = l.Answer(ctx, request); err == nil && !found {
				t.Errorf("%s: an answer was kept, and is not there", request)
			}
			answer = string(kept)
		}
		if errors.As(err, &write) {
			o.unclear.Add(1)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", request, err)
			return
		}
		o.mu.Lock()
		if before, ok := o.answers[request]; ok && before != answer {
			t.Errorf("%s has two answers: %q and %q", request, before, answer)
		}
		o.answers[request] = answer
		o.mu.Unlock()
		return
	}
	t.Errorf("%s was never decided", request)
}

// check compares what clients were told with the ledger: nothing unpaid, nothing overspent, nothing
// lost.
func (o *outcome) check(t *testing.T, at string, limit int) {
	t.Helper()
	l := open(t, at, Options{})
	defer l.Close()
	if n := spent(t, l, "hospital"); n > limit || n != limit && o.refused.Load() > 0 {
		t.Errorf("%d were spent of %d", n, limit)
	}
	charges := map[uint64]string{}
	for r, err := range l.Records(ctx, 0) {
		noError(t, err)
		if r.Kind == ledger.KindCharge {
			charges[r.Sequence] = r.Request
		}
	}
	for request, r := range o.receipts {
		if charges[r.Sequence] != request {
			t.Errorf("the charge of %s is lost: record %d is of %q", request, r.Sequence, charges[r.Sequence])
		}
	}
	for request, answer := range o.answers {
		if kept, found, err := l.Answer(ctx, request); err != nil || !found || string(kept) != answer {
			t.Errorf("%s was answered with %q, and the ledger has %q: %v", request, answer, kept, err)
		}
	}
	if report := verify(t, at); report.Charges > uint64(limit) {
		t.Errorf("%d charges of %d", report.Charges, limit)
	}
}

// race has clients on several servers ask for more than there is, each request on two servers.
func race(t *testing.T, servers []*Ledger, requests, limit int) *outcome {
	o := newOutcome()
	var wg sync.WaitGroup
	for i := range requests {
		for k := range 2 {
			wg.Go(func() { o.client(t, servers[(i+k)%len(servers)], fmt.Sprint("request ", i), limit) })
		}
	}
	wg.Wait()
	return o
}

// Three servers, 300 clients, 150 requests for 100 charges: exactly 100 are admitted, and a request
// that comes to two servers is charged once and has one answer.
func TestPromise2SeveralServers(t *testing.T) {
	at := address(t)
	servers := []*Ledger{open(t, at, Options{}), open(t, at, Options{}), open(t, at, Options{})}
	o := race(t, servers, 150, 100)
	if n := len(o.receipts); n != 100 || len(o.answers) != 100 || o.refused.Load() != 100 || o.again.Load() != 100 {
		t.Errorf("%d of 100 were admitted, %d answered; %d clients were refused and %d came again", n, len(o.answers), o.refused.Load(),
			o.again.Load())
	}
	for i, l := range servers {
		if n := spent(t, l, "hospital"); n != 100 {
			t.Errorf("server %d says that %d were spent", i, n)
		}
	}
	o.check(t, at, 100)
}
