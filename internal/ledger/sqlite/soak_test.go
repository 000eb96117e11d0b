//go:build unix

package sqlite

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// soak makes the tests of this package try much more, for an hour or so.
var soak = flag.Bool("soak", false, "many more rounds, for an hour or so")

// survivors is the budget of the ledgers in this file, in charges. It is often exhausted before the
// ledger is done with.
const survivors = 60

func init() {
	children["clients"] = func(path string) error { return clients(path, "") }
	for _, bug := range []string{"release first", "answer anew", "note late"} {
		children["clients that "+bug] = func(path string) error { return clients(path, bug) }
	}
}

// clients opens the ledger and has several clients ask until the process is killed. They begin with
// the requests on standard input, which others had sent before. The lines they write are "ask
// request" before a request is sent, and "got request answer" when its answer is released.
func clients(path, bug string) error {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	l, err := Open(path)
	if err != nil {
		return err
	}
	say := func(words ...string) { io.WriteString(os.Stdout, strings.Join(words, " ")+"\n") }
	say("open")
	requests := make(chan string, 100)
	var wg sync.WaitGroup
	for worker := range 5 {
		wg.Go(func() {
			session, noted := fmt.Sprintf("%d-%d", os.Getpid(), worker), 0
			for request := range requests {
				if err := note(l, session, noted, bug, say); err != nil {
					say("failed", err.Error())
					return
				}
				noted++
				say("ask", request)
				answer, err := answer(l, request, bug, say)
				var budget *ledger.BudgetError
				if errors.As(err, &budget) {
					say("refused", request)
					continue
				}
				if err != nil {
					say("failed", err.Error())
					return
				}
				say("got", request, answer)
			}
		})
	}
	for _, request := range strings.Fields(string(input)) {
		requests <- request
	}
	for i := range 40 {
		requests <- fmt.Sprintf("%d-%d", os.Getpid(), i)
	}
	close(requests)
	wg.Wait()
	return l.Close()
}

// note writes the next note of a session, and says so.
func note(l *Ledger, session string, n int, bug string, say func(...string)) error {
	if bug == "note late" {
		say("noted", session, fmt.Sprint(n))
	}
	entry := fmt.Sprint(n)
	if n%7 == 3 {
		entry += strings.Repeat(" ", 5000) // over several pages
	}
	if err := l.Note(ctx, session, []byte(entry)); err != nil {
		return err
	}
	say("noted", session, fmt.Sprint(n))
	return nil
}

// answer is what a server does for a request: charge, look whether it was answered before,
// otherwise keep a new answer.
func answer(l *Ledger, request, bug string, say func(...string)) (string, error) {
	r, err := l.Charge(ctx, ask(request, hospital(survivors), ledger.Account{Name: "hospital/ana", Filter: admits(survivors)}))
	if err != nil {
		return "", err
	}
	if kept, found, err := l.Answer(ctx, request); err != nil || found && bug != "answer anew" {
		return string(kept), err
	}
	noise := fmt.Sprintf("%x", rand.Uint64())
	if rand.IntN(5) == 0 {
		noise += strings.Repeat("0", 3000) // over several pages
	}
	if bug == "release first" {
		say("got", request, noise)
	}
	err = l.Keep(ctx, r.Sequence, "key "+request, []byte(noise))
	if bug == "answer anew" && errors.Is(err, ledger.ErrKept) {
		return noise, nil
	}
	return noise, err
}

// survivor is a ledger whose process is killed again and again, and what its clients saw.
type survivor struct {
	path, child string
	released    map[string]string // by request, over all rounds
	open        map[string]bool   // asked for, without an answer yet
	noted       map[string]int    // by session, how many notes were confirmed
	sequence    uint64            // the head after the last round
	hash        string
	killed      bool // the last process was killed and did not end
	unkept      int  // charges without an answer
}

func newSurvivor(dir, child string) *survivor {
	return &survivor{path: filepath.Join(dir, "ledger.db"), child: child, released: map[string]string{}, open: map[string]bool{},
		noted: map[string]int{}}
}

// What a round can find wrong.
var (
	errUnpaid     = errors.New("an answer was released that is not paid for")
	errLost       = errors.New("something confirmed is lost")
	errOverspent  = errors.New("the budget is overspent")
	errUnreadable = errors.New("the ledger cannot be read")
)

// round runs a child, kills it at some moment, and checks the ledger it leaves.
func (v *survivor) round() error {
	child := command(v.child, v.path)
	// What is sent again: everything that has no answer, and a few that have.
	again := slices.Collect(maps.Keys(v.open))
	for request := range v.released {
		if len(again) > 20 {
			break
		}
		again = append(again, request)
	}
	child.Stdin = strings.NewReader(strings.Join(again, "\n"))
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	var kill sync.Once
	killed := func() { kill.Do(func() { child.Process.Kill() }) }
	// The moment is a number of lines and then a little time, so that it means the same on a slow
	// machine; or it is while the ledger is created, mended or checked.
	left := 1 + rand.IntN(60)
	if rand.IntN(5) == 0 {
		defer time.AfterFunc(rand.N(30*time.Millisecond), killed).Stop()
	}
	var wrong error
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		if left--; left == 0 {
			defer time.AfterFunc(rand.N(time.Millisecond), killed).Stop()
		}
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "ask" && v.released[words[1]] == "":
			v.open[words[1]] = true
		case len(words) == 2 && words[0] == "refused":
			if v.released[words[1]] != "" {
				wrong = fmt.Errorf("%w: %s was answered before and is refused now", errLost, words[1])
			}
			delete(v.open, words[1])
		case len(words) == 3 && words[0] == "got":
			if before := v.released[words[1]]; before != "" && before != words[2] {
				wrong = fmt.Errorf("%w: %s has a second answer", errUnpaid, words[1])
			}
			v.released[words[1]] = words[2]
			delete(v.open, words[1])
		case len(words) == 3 && words[0] == "noted":
			if n, err := strconv.Atoi(words[2]); err == nil {
				v.noted[words[1]] = max(v.noted[words[1]], n+1)
			}
		case words[0] == "failed":
			wrong = fmt.Errorf("%w: %s", errUnreadable, line)
		}
	}
	v.killed = child.Wait() != nil
	return errors.Join(wrong, v.check())
}

func (v *survivor) check() error {
	if _, err := os.Stat(v.path); os.IsNotExist(err) && len(v.released) == 0 && v.sequence == 0 {
		return nil // killed before there was a ledger
	}
	before, err := Verify(v.path)
	if err != nil {
		return fmt.Errorf("%w: Verify: %w", errUnreadable, err)
	}
	l, err := Open(v.path)
	if err != nil {
		return fmt.Errorf("%w: Open: %w", errUnreadable, err)
	}
	defer l.Close()
	if n, hash, err := l.Head(ctx); err != nil || n != before.Records || hash != before.Head {
		return fmt.Errorf("%w: Verify saw record %d, and Open %d: %v", errUnreadable, before.Records, n, err)
	}
	hashes := map[uint64]string{}
	for r, err := range l.Records(ctx, 0) {
		if err != nil {
			return fmt.Errorf("%w: %w", errUnreadable, err)
		}
		hashes[r.Sequence] = ledger.Hash(r.Encode())
	}
	if v.hash != "" && hashes[v.sequence] != v.hash {
		return fmt.Errorf("%w: record %d", errLost, v.sequence)
	}
	v.sequence, v.hash = before.Records, before.Head
	for request, answer := range v.released {
		kept, found, err := l.Answer(ctx, request)
		if err != nil {
			return fmt.Errorf("%w: %w", errUnreadable, err)
		}
		if !found || string(kept) != answer {
			return fmt.Errorf("%w: %s", errUnpaid, request)
		}
	}
	for session, confirmed := range v.noted {
		all, err := l.Notes(ctx, session)
		if err != nil {
			return fmt.Errorf("%w: %w", errUnreadable, err)
		}
		if len(all) < confirmed {
			return fmt.Errorf("%w: %d of %d notes of %s", errLost, confirmed-len(all), confirmed, session)
		}
		for i, entry := range all {
			if strings.TrimRight(string(entry), " ") != strconv.Itoa(i) {
				return fmt.Errorf("%w: note %d of %s is %.20q", errLost, i, session, entry)
			}
		}
	}
	v.unkept = int(before.Charges - before.Answers)
	for _, b := range before.Balances {
		if !b.Spent.Within(b.Limit) || b.Spent.Rho != unit.Rho*dp.Amount(before.Charges) {
			return fmt.Errorf("%w: %d charges, and %s has spent %v", errOverspent, before.Charges, b.Account, b.Spent)
		}
	}
	return nil
}

// With -soak it is 10,000 rounds:
//
//	go test ./ledger/sqlite -run TestPromise6 -soak -timeout 2h -v
func TestPromise6KilledWithClients(t *testing.T) {
	rounds, perLedger, workers := rounds(150), 8, 3
	if *soak {
		rounds = 10_000
	}
	var begun, done, released, unkept, killed atomic.Int64
	var unpaid, lost, overspent, unreadable atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			var v *survivor
			count := func() {
				if v != nil {
					released.Add(int64(len(v.released)))
					unkept.Add(int64(v.unkept))
					os.RemoveAll(filepath.Dir(v.path))
				}
			}
			defer func() { count() }()
			// Whether a process dies between a charge and its answer is chance; the rounds go on
			// until it has happened.
			met := func() bool { return unkept.Load() > 0 && released.Load() >= done.Load() }
			for i := 0; begun.Add(1) <= int64(rounds) || !met() && begun.Load() < int64(1000+20*rounds); i++ {
				if i%perLedger == 0 {
					count()
					dir, err := os.MkdirTemp("", "ledger-test-*")
					if err != nil {
						t.Error(err)
						return
					}
					v = newSurvivor(dir, "clients")
				}
				if err := v.round(); err != nil {
					t.Error(err)
					for kind, n := range map[error]*atomic.Int64{errUnpaid: &unpaid, errLost: &lost, errOverspent: &overspent,
						errUnreadable: &unreadable} {
						if errors.Is(err, kind) {
							n.Add(1)
						}
					}
					return
				}
				if v.killed {
					killed.Add(1)
				}
				if n := done.Add(1); *soak && n%500 == 0 {
					fmt.Printf("%d of %d rounds after %v\n", n, rounds, time.Since(began).Round(time.Second))
				}
			}
		})
	}
	wg.Wait()
	result :=
		fmt.Sprintf("rounds %d, killed %d, released %d, charges without an answer %d; unpaid %d, lost %d, overspent %d, unreadable %d",
			done.Load(), killed.Load(), released.Load(), unkept.Load(), unpaid.Load(), lost.Load(), overspent.Load(), unreadable.Load())
	if *soak {
		fmt.Println(result)
	}
	t.Log(result)
	if n := done.Load(); released.Load() < n || killed.Load() < n/2 || unkept.Load() == 0 {
		t.Error("the rounds were too short to mean anything")
	}
}

func TestPromise6TestSeesCarelessClients(t *testing.T) {
	for bug, want := range map[string]error{"release first": errUnpaid, "answer anew": errUnpaid, "note late": errLost} {
		seen := false
		for range 20 {
			v := newSurvivor(t.TempDir(), "clients that "+bug)
			for range 10 {
				if err := v.round(); err != nil {
					if !errors.Is(err, want) {
						t.Fatal(err)
					}
					seen = true
					break
				}
			}
			if seen {
				break
			}
		}
		if !seen {
			t.Errorf("clients that %s were not seen", bug)
		}
	}
}
