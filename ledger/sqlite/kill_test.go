package sqlite

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// killed is the budget of the ledgers in this file, in charges.
const killed = 100

func init() {
	children["analysts"] = func(path string) error { return analysts(path, false) }
	children["careless analysts"] = func(path string) error { return analysts(path, true) }
}

// analysts opens the ledger and has several analysts ask until the process is
// killed or the budget is exhausted. Each line it writes is a release: a request and its answer. The careless ones
// release before they keep, which is the bug that this test must be able to see.
func analysts(path string, careless bool) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	fmt.Println("open")
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				request := fmt.Sprintf("%d-%d-%d", os.Getpid(), g, i)
				answer := fmt.Sprintf("%x", rand.Uint64())
				if i%5 == 0 {
					answer += strings.Repeat("0", 3000) // over several pages
				}
				r, err := l.Charge(ctx, ask(request, hospital(killed), ledger.Account{Name: "hospital/ana", Filter: admits(killed)}))
				if err != nil {
					return
				}
				release := func() { io.WriteString(os.Stdout, request+" "+answer+"\n") }
				if careless {
					release()
				}
				if err := l.Keep(ctx, r.Sequence, "key "+request, []byte(answer)); err != nil {
					return
				}
				if !careless {
					release()
				}
			}
		})
	}
	wg.Wait() // until the budget is exhausted
	return nil
}

// victim is a ledger whose process is killed again and again.
type victim struct {
	path     string
	child    string
	released map[string]string // answers by request, over all rounds
	sequence uint64            // the head after the last round
	hash     string
	hot      int // rounds that left a log
	unkept   int // charges without an answer
}

// round runs a child, kills it at some moment, and checks the ledger it leaves.
func (v *victim) round() error {
	child := command(v.child, v.path)
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	kill := func() { child.Process.Kill() }
	lines := bufio.NewReader(out)
	// The moment is a number of lines and then a little time, so that it means the
	// same on a slow machine; or it is while the ledger is created, played back or checked.
	left := 1 + rand.IntN(15)
	if rand.IntN(5) == 0 {
		time.AfterFunc(rand.N(30*time.Millisecond), kill)
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if left--; left == 0 {
			time.AfterFunc(rand.N(time.Millisecond), kill)
		}
		if request, answer, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			v.released[request] = answer
		}
	}
	child.Wait()
	return v.check()
}

func (v *victim) check() error {
	if _, err := os.Stat(v.path); os.IsNotExist(err) && len(v.released) == 0 && v.sequence == 0 {
		return nil // killed before there was a ledger
	}
	if size, _ := logSize(v.path); size > 0 {
		v.hot++
	}
	before, err := Verify(v.path)
	if err != nil {
		return err
	}
	l, err := Open(v.path)
	if err != nil {
		return err
	}
	defer l.Close()
	sequence, hash := l.state.Head()
	if sequence != before.Records || hash != before.Head {
		return fmt.Errorf("Verify saw record %d, and Open %d", before.Records, sequence)
	}
	if v.hash != "" {
		if _, hash, _, err := l.read(v.sequence); err != nil || hash != v.hash {
			return fmt.Errorf("record %d was forgotten: %v", v.sequence, err)
		}
	}
	v.sequence, v.hash = sequence, hash
	for request, answer := range v.released {
		kept, found, err := l.Answer(ctx, request)
		if err != nil {
			return err
		}
		if !found || string(kept) != answer {
			return fmt.Errorf("the answer of %s was released and is not in the ledger", request)
		}
	}
	charges := sequence - before.Answers
	v.unkept = int(charges - before.Answers)
	for _, b := range before.Balances {
		if !b.Spent.Within(b.Limit) || b.Spent.Rho != unit.Rho*dp.Amount(charges) {
			return fmt.Errorf("%d charges, but %s has spent %v", charges, b.Account, b.Spent)
		}
	}
	return nil
}

func TestPromise6KilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const rounds, perLedger, workers = 300, 10, 3
	enough := time.Now().Add(40 * time.Second)
	var done, hot, released, unkept atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			v := &victim{}
			count := func() {
				hot.Add(int64(v.hot))
				released.Add(int64(len(v.released)))
				unkept.Add(int64(v.unkept))
			}
			defer func() { count() }()
			for i := 0; time.Now().Before(enough) && done.Add(1) <= int64(some(rounds)); i++ {
				if i%perLedger == 0 {
					count()
					v = &victim{path: filepath.Join(t.TempDir(), "ledger.db"), child: "analysts", released: map[string]string{}}
				}
				if err := v.round(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	n := min(done.Load(), rounds)
	t.Logf("in about %d rounds %d answers were released, %d rounds left a log, %d charges had no answer", n, released.Load(), hot.Load(), unkept.Load())
	// A test that never met a process at work would prove nothing.
	if released.Load() < n || hot.Load() < n/20 || unkept.Load() == 0 {
		t.Error("the rounds were too short to mean anything")
	}
}

// some is fewer in short mode.
func some(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestPromise6TestSeesCarelessRelease(t *testing.T) {
	for range 100 {
		v := &victim{path: filepath.Join(t.TempDir(), "ledger.db"), child: "careless analysts", released: map[string]string{}}
		if err := v.round(); err != nil {
			if !strings.Contains(err.Error(), "was released and is not in the ledger") {
				t.Fatal(err)
			}
			return
		}
	}
	t.Error("answers were released before they were kept, and nobody noticed")
}
