package postgres

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// TestMain is also the way into a server that can be killed.
func TestMain(m *testing.M) {
	if at := os.Getenv("LEDGER_TEST_SERVER"); at != "" {
		if err := serve(at, os.Getenv("LEDGER_TEST_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killedLimit is what there is to spend: enough to be at it when servers are killed.
func killedLimit() int {
	if *long > 0 || os.Getenv("LEDGER_TEST_LONG") != "" {
		return 5000
	}
	return 150
}

// serve asks until there is nothing left, and says what it tells clients. It ends with its input,
// so that it does not outlive its test.
func serve(at, name string) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	l, err := OpenWith(at, Options{Lease: 5 * time.Second})
	if err != nil {
		return err
	}
	fmt.Println("serving")
	var mu sync.Mutex
	say := func(text ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(text...)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				request := fmt.Sprintf("%s-%d-%d", name, i, n)
				r, err := l.Charge(ctx, ask(request, hospital(killedLimit())))
				if errors.As(err, new(*ledger.BudgetError)) {
					say("refused", request, "-")
					return
				}
				if err != nil {
					say("error", request, err)
					return
				}
				say("charged", request, r.Sequence)
				if err := l.Keep(ctx, r.Sequence, "key "+request, []byte("answer-"+request)); err != nil {
					say("error", request, err)
					return
				}
				say("answered", request, r.Sequence)
			}
		})
	}
	wg.Wait()
	select {} // until it is killed
}

// server is such a process.
type server struct {
	*exec.Cmd
	life io.Closer
	said chan string
}

func start(t *testing.T, at, name string) *server {
	t.Helper()
	s := &server{Cmd: exec.Command(os.Args[0]), said: make(chan string, 100_000)}
	s.Env = append(os.Environ(), "LEDGER_TEST_SERVER="+at, "LEDGER_TEST_NAME="+name)
	if *long > 0 {
		s.Env = append(s.Env, "LEDGER_TEST_LONG=1")
	}
	s.Stderr = os.Stderr
	life, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.life = life
	go func() {
		defer close(s.said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			s.said <- lines.Text()
		}
	}()
	return s
}

// kill kills it, and returns what it had said.
func (s *server) kill(t *testing.T) (all []string) {
	t.Helper()
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for line := range s.said {
		all = append(all, line)
	}
	_ = s.Wait() // it was killed
	s.life.Close()
	return all
}

// Servers are killed in the middle of it and others started. What was told is in the ledger, and
// exactly the budget is spent.
func TestPromise6ServersKilled(t *testing.T) {
	t.Parallel()
	at := address(t)
	open(t, at, Options{}).Close()
	var all []string
	running := make([]*server, 3)
	for i := range running {
		running[i] = start(t, at, fmt.Sprint("s", i))
	}
	kills := 0
	for begun := time.Now(); kills < 4 || time.Since(begun) < *long; kills++ {
		time.Sleep(time.Duration(100+rand.IntN(200)) * time.Millisecond)
		i := rand.IntN(len(running))
		all = append(all, running[i].kill(t)...)
		running[i] = start(t, at, fmt.Sprint("k", kills))
	}
	// Those that are left spend the rest.
	watch := open(t, at, Options{})
	until(t, "the end of the budget", func() bool { return spent(t, watch, "hospital") == killedLimit() })
	time.Sleep(100 * time.Millisecond)
	for _, s := range running {
		all = append(all, s.kill(t)...)
	}
	o, refused := newOutcome(), 0
	for _, line := range all {
		what, rest, _ := strings.Cut(line, " ")
		request, sequence, _ := strings.Cut(rest, " ")
		switch what {
		case "charged":
			var n uint64
			if _, err := fmt.Sscan(sequence, &n); err != nil {
				continue // cut off in the middle of a line
			}
			o.receipts[request] = ledger.Receipt{Sequence: n}
		case "answered":
			o.answers[request] = "answer-" + request
		case "refused":
			refused++
		case "error":
			t.Error(line)
		}
	}
	o.refused.Store(int64(refused))
	t.Logf("%d servers were killed: %d charges and %d answers were told, %d refused", kills, len(o.receipts), len(o.answers), refused)
	if len(o.answers) == 0 {
		t.Error("nothing was answered")
	}
	o.check(t, at, killedLimit())
}
