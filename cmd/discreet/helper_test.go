package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
	"github.com/discreet-dp/discreet/ledger"
)

// TestMain makes this binary the command itself where a test asks for a process.
func TestMain(m *testing.M) {
	if os.Getenv("DISCREET_TEST_MAIN") == "" {
		debug.SetGCPercent(800) // each command leaves little behind, and there are many
		// What runs beside others waits for processes and clocks.
		flag.Parse()
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		code := m.Run()
		os.RemoveAll(preparedFolder())
		os.Exit(code)
	}
	limitFiles()
	main()
}

// preparedFolder is for what several tests copy. It is there until all of them have ended.
var preparedFolder = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "prepared")
	if err != nil {
		panic(err)
	}
	return dir
})

// result is what a command printed and how it ended.
type result struct {
	args     []string
	code     int
	out, err string
}

// What commands in this process read, and their clock, where a test sets them. Such a test runs
// alone; fed is for one that runs beside others.
var (
	input   io.Reader = strings.NewReader("")
	present           = time.Now
)

// withInput gives commands a standard input until the test ends.
func withInput(t testing.TB, text string) {
	before := input
	input = strings.NewReader(text)
	t.Cleanup(func() { input = before })
}

func command(args ...string) result { return reading(input, args...) }

// fed runs a command that has a text as its standard input.
func fed(text string, args ...string) result { return reading(strings.NewReader(text), args...) }

func reading(in io.Reader, args ...string) result {
	var out, err bytes.Buffer
	code := run(context.Background(), args, console.Screen{In: in, Out: &out, Err: &err, Now: present})
	return result{args, code, out.String(), err.String()}
}

// process returns a command in a process of its own that has not been started.
func process(out, err *bytes.Buffer, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "DISCREET_TEST_MAIN=1")
	c.Stdout, c.Stderr = out, err
	return c
}

// processed runs a command in a process of its own.
func processed(t testing.TB, env string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	c := process(&out, &errs, args...)
	c.Env = append(c.Env, env)
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{args, c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// wants checks the exit code, and that each of the texts was printed.
func (r result) wants(t testing.TB, code int, texts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("%q: exit code %d; want %d\n%s%s", r.args, r.code, code, r.out, r.err)
	}
	for _, s := range texts {
		if !strings.Contains(r.out+r.err, s) {
			t.Errorf("%q does not say %q\n%s%s", r.args, s, r.out, r.err)
		}
	}
	if code != 0 && !strings.Contains(strings.Join(r.args, " "), "--json") && r.args[0] != "check" && !slices.Contains(r.args, "replay") &&
		r.out != "" {
		t.Errorf("%q failed and printed %q", r.args, r.out)
	}
	return r
}

// lacks checks that a text was not printed.
func (r result) lacks(t testing.TB, texts ...string) result {
	t.Helper()
	for _, s := range texts {
		if strings.Contains(r.out+r.err, s) {
			t.Errorf("%q says %q\n%s%s", r.args, s, r.out, r.err)
		}
	}
	return r
}

// decode reads the one JSON document that was printed.
func (r result) decode(t testing.TB) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.out))
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v in %q", r.args, err, r.out)
	}
	if d.More() {
		t.Fatalf("%q printed more than one document: %s", r.args, r.out)
	}
	return v
}

// fails checks an error in JSON and in words.
func (r result) fails(t testing.TB, code int, kind string) {
	t.Helper()
	r.wants(t, code)
	e, ok := r.decode(t)["error"].(map[string]any)
	if !ok || e["kind"] != kind || e["message"] == "" || r.err == "" || len(e) != 2 {
		t.Errorf("%q: %s and %q", r.args, r.out, r.err)
	}
}

// copied copies a folder that was prepared for several, and returns a path in it.
func copied(t testing.TB, folder string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(folder)))
	return filepath.Join(append([]string{dir}, names...)...)
}

// deploy writes a hospital under a budget and returns the policy's path.
func deploy(t testing.TB, budget string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, hospital.New(100, 1).Write(filepath.Join(dir, "data")))
	return write(t, filepath.Join(dir, "policy.yaml"), "datasets:\n"+hospital.Dataset("hospital", "data", budget))
}

const (
	tenQuestions = "{epsilon: 1, per_query: {default: 0.1, max: 0.5}}"
	concentrated = "{epsilon: 1, delta: 1e-6, per_query: {default: 0.1, max: 0.5}}"
	people       = "SELECT COUNT(*) FROM patients"
)

func write(t testing.TB, path, text string) string {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func change(t testing.TB, path string, f func(string) string) {
	t.Helper()
	text := contents(t, path)
	write(t, path, f(text))
}

// replace changes a text in a file, once.
func replace(t testing.TB, path, old, now string) {
	t.Helper()
	change(t, path, func(s string) string { return strings.Replace(s, old, now, 1) })
}

// beside returns a path in the folder of another.
func beside(path string, names ...string) string {
	return filepath.Join(append([]string{filepath.Dir(path)}, names...)...)
}

func asks(policy string, more ...string) result {
	return command(append([]string{"query", "--policy", policy, "--as", "ana"}, more...)...)
}

// spent returns what the ledger says, and fails where it does not check.
func spent(t testing.TB, policy string) sqlite.Report {
	t.Helper()
	r, err := sqlite.Verify(strings.TrimSuffix(policy, ".yaml") + ".ledger")
	if errors.Is(err, os.ErrNotExist) {
		return r
	} else if err != nil {
		t.Error(err)
	}
	return r
}

func duck(t testing.TB, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", file)
	must(t, err)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// shownToNobody is the answer that the scribe keeps: a text that no time of day or hash contains.
const shownToNobody = "forty-two people"

// scribe writes records into a ledger file as somebody would who knows the format: with the right
// hashes, whatever they say.
type scribe struct {
	t        testing.TB
	path     string
	records  []*ledger.Record
	previous string
	decided  ledger.Position // the owner's last decision
	spent    map[string]dp.Cost
	key      ed25519.PrivateKey
}

// newScribe begins a ledger beside a policy that has none yet.
func newScribe(t testing.TB, policy string) *scribe {
	t.Helper()
	s := &scribe{t: t, path: beside(policy, "policy.ledger"), spent: map[string]dp.Cost{},
		key: ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", 32)))}
	l, err := sqlite.Open(s.path)
	must(t, err)
	if _, s.previous, err = l.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, l.Close())
	return s
}

func (s *scribe) add(r *ledger.Record) *ledger.Record {
	r.Sequence, r.Previous = uint64(len(s.records)+1), s.previous
	if r.Kind == ledger.KindTopUp {
		r.Signature = hex.EncodeToString(ed25519.Sign(s.key, r.Signed(s.decided)))
	}
	s.previous = ledger.Hash(r.Encode())
	if r.Kind == ledger.KindTopUp || r.Kind == ledger.KindOwner {
		s.decided = ledger.Position{Sequence: r.Sequence, Hash: s.previous}
	}
	s.records = append(s.records, r)
	return r
}

func (s *scribe) owner() *ledger.Record {
	return s.add(&ledger.Record{Kind: ledger.KindOwner, Time: day(0), PublicKey: hex.EncodeToString(s.key.Public().(ed25519.PublicKey)),
		Reason: "first key"})
}

func (s *scribe) topUp(at time.Time, amount dp.Amount) *ledger.Record {
	return s.add(&ledger.Record{
		Kind: ledger.KindTopUp, Time: at, Accounts: []string{"hospital", "hospital/ana"}, Cost: dp.Cost{Epsilon: amount},
		Reason: "board decision", PublicKey: hex.EncodeToString(s.key.Public().(ed25519.PublicKey)),
	})
}

// charge spends epsilon of a pure budget with the limits of tenQuestions, of which so much was
// granted. It asks nobody.
func (s *scribe) charge(request string, at time.Time, epsilon, granted dp.Amount) *ledger.Record {
	cost := dp.Cost{Epsilon: epsilon, Rho: dp.Unbounded}
	r := &ledger.Record{
		Kind: ledger.KindCharge, Time: at, Request: request, Analyst: "ana", Dataset: "hospital", Query: ledger.Hash(request),
		Mechanisms: "discrete-laplace", Window: 1, Cost: cost,
	}
	for _, name := range []string{"hospital", "hospital/ana"} {
		s.spent[name] = s.spent[name].Add(cost)
		r.Balances = append(r.Balances, ledger.Balance{
			Account: name, Limit: dp.Cost{Epsilon: dp.One + granted, Rho: dp.Unbounded}, Granted: dp.Cost{Epsilon: granted},
			Spent: s.spent[name],
		})
	}
	return s.add(r)
}

func (s *scribe) answer(charge uint64) {
	s.add(&ledger.Record{Kind: ledger.KindAnswer, Time: day(0), Charge: charge, Key: fmt.Sprint("key", charge),
		AnswerHash: ledger.Hash(shownToNobody)})
}

func (s *scribe) save() string {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	for _, r := range s.records {
		var answer any
		if r.Kind == ledger.KindAnswer {
			answer = []byte(shownToNobody)
		}
		body := r.Encode()
		if _, err := db.Exec("INSERT INTO records (sequence, body, hash, answer) VALUES (?, ?, ?, ?)", r.Sequence, body,
			ledger.Hash(body), answer); err != nil {
			s.t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE head SET sequence = ?, hash = ?", r.Sequence, ledger.Hash(body)); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.path
}

// comes writes a file of users with an analyst who can come in, and returns the password. What
// user add makes of one takes longer to check, as it should.
func comes(t testing.TB, path, name string) string {
	t.Helper()
	return userstest.Write(t, path, map[string]users.Role{name: users.Analyst}, "")[name]
}

// today is when the tests of forecasts are.
var today = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func day(ago float64) time.Time { return today.Add(-time.Duration(ago * 24 * float64(time.Hour))) }

// onThatDay makes it today until the test ends.
func onThatDay(t testing.TB) {
	present = func() time.Time { return today }
	t.Cleanup(func() { present = time.Now })
}

func contents(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
