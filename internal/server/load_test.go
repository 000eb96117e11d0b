package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/userstest"
	"github.com/discreet-dp/discreet/ledger"
)

// The load of the documentation is -connections 500 -lasting 60s.
var (
	connections = flag.Int("connections", 30, "how many clients come at once")
	lasting     = flag.Duration("lasting", 0, "for how long they come; 0 means a few times each")
)

// siege is a crowd of clients, most of whom behave badly. It is a process of its own, as clients
// are: logging in takes a client's processor, by design, and five hundred of them in the server's
// process would keep it from running at all.
type siege struct {
	Wire, HTTP        string
	Passwords, Tokens []string
	Connections       int
	Lasting           time.Duration

	asked, answered, canceled, cut, garbled, wrong, silent, web, shown atomic.Int64

	mu       sync.Mutex
	receipts map[uint64]string // who got an answer of which charge
	strange  []string          // errors that nobody should get
}

// tally is what a siege tells in the end.
type tally struct {
	Asked, Answered, Canceled, Cut, Garbled, Wrong, Silent, Web, Shown int64
	Receipts                                                           map[uint64]string
	Strange                                                            []string
}

const crowdUsers = 10

// TestLoad lets many clients in at once who ask, cancel, hang up and send garbage. Nothing breaks,
// nothing leaks, every answer is paid for.
func TestLoad(t *testing.T) {
	server, s := besiege(t)
	// What a first question opens stays open, and is no leak.
	c := s.dial(t.Context(), 0)
	if _, err := s.question(t.Context(), c, "SELECT COUNT(*) FROM patients"); err != nil {
		t.Fatal(err)
	}
	c.Close(context.Background())
	quiet(t, server)
	goroutines, heap := runtime.NumGoroutine(), live()

	told := s.elsewhere(t)
	quiet(t, server)

	after, grown := settled(goroutines), live()
	t.Logf("%d clients for %v: %d questions, %d answers, %d of them over HTTP, %d canceled, %d hung up, %d sent garbage, %d wrong "+
		"passwords, %d fell silent; %d charges; goroutines %d then %d, heap %.1f then %.1f MB",
		s.Connections, s.Lasting, told.Asked, told.Answered, told.Web, told.Canceled, told.Cut, told.Garbled, told.Wrong, told.Silent,
		len(told.Receipts),
		goroutines, after, float64(heap)/1e6, float64(grown)/1e6)
	if after > goroutines+5 {
		buffer := make([]byte, 1<<20)
		t.Errorf("there were %d goroutines and are %d:\n%s", goroutines, after, buffer[:runtime.Stack(buffer, true)])
	}
	if grown > heap+64<<20 {
		t.Errorf("there were %d bytes and are %d", heap, grown)
	}
	if told.Answered == 0 || told.Canceled == 0 || told.Cut == 0 || told.Garbled == 0 || told.Web == 0 || told.Wrong == 0 ||
		told.Silent == 0 {
		t.Error("something never happened")
	}
	for _, e := range told.Strange[:min(len(told.Strange), 20)] {
		t.Errorf("strange: %s", e)
	}
	if told.Shown < told.Answered {
		t.Errorf("%d answers came with %d receipts", told.Answered, told.Shown)
	}
	checkPaid(t, server, told.Receipts)
}

// elsewhere runs the siege in another process and returns what it tells.
func (s *siege) elsewhere(t *testing.T) (told tally) {
	plan, err := json.Marshal(s)
	must(t, err)
	c := exec.Command(os.Args[0], "-test.run=^TestLoadClients$")
	c.Env = append(os.Environ(), "DISCREET_SIEGE="+string(plan), "GOMAXPROCS=1")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, _, _ := bytes.Cut(out, []byte("\n"))
	if err := json.Unmarshal(text, &told); err != nil {
		t.Fatalf("%v: %.500s", err, out)
	}
	return told
}

// TestLoadClients is the other process of TestLoad.
func TestLoadClients(t *testing.T) {
	plan := os.Getenv("DISCREET_SIEGE")
	if plan == "" {
		t.Skip("it is a part of TestLoad")
	}
	s := &siege{receipts: map[uint64]string{}}
	must(t, json.Unmarshal([]byte(plan), s))
	ctx := t.Context()
	if s.Lasting > 0 {
		limited, done := context.WithTimeout(ctx, s.Lasting)
		defer done()
		ctx = limited
	}
	var all sync.WaitGroup
	for i := range s.Connections {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(1, uint64(i)))
			for n := 0; ctx.Err() == nil && (s.Lasting > 0 || n < 5); n++ {
				s.visit(ctx, dice, i)
			}
		})
	}
	all.Wait()
	text, err := json.Marshal(tally{s.asked.Load(), s.answered.Load(), s.canceled.Load(), s.cut.Load(), s.garbled.Load(), s.wrong.Load(),
		s.silent.Load(), s.web.Load(), s.shown.Load(), s.receipts, s.strange})
	must(t, err)
	fmt.Println(string(text))
}

func besiege(t *testing.T) (*Server, *siege) {
	dir := t.TempDir()
	must(t, hospital.New(2000, 1).Write(filepath.Join(dir, "data")))
	s := &siege{Connections: *connections, Lasting: *lasting, receipts: map[uint64]string{}}
	text := hospital.Dataset("hospital", "data", "{epsilon: 100, delta: 1e-6, per_query: {default: 0.001, max: 1}}") +
		"    release: immediate\n"
	var names []string
	for i := range crowdUsers {
		names = append(names, fmt.Sprintf("u%d: {share: 1}", i))
	}
	text = regexp.MustCompile(`analysts: .*`).ReplaceAllString(text, "analysts: {"+strings.Join(names, ", ")+"}")
	c := Config{Policy: filepath.Join(dir, "policy.yaml"), Users: filepath.Join(dir, "users"), Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0",
		Rate: 1_000_000, Connections: 5000, Version: "test"}
	must(t, os.WriteFile(c.Policy, []byte("datasets:\n"+text), 0o600))
	everybody := map[string]users.Role{}
	for i := range crowdUsers {
		everybody[fmt.Sprintf("u%d", i)] = users.Analyst
	}
	passwords := userstest.Write(t, c.Users, everybody, "")
	store, err := users.Open(c.Users)
	must(t, err)
	defer store.Close()
	for i := range crowdUsers {
		name := fmt.Sprintf("u%d", i)
		token, _, err := store.NewToken(t.Context(), name, "", time.Time{})
		must(t, err)
		s.Passwords, s.Tokens = append(s.Passwords, passwords[name]), append(s.Tokens, token)
	}
	t.Cleanup(func() { verified(t, filepath.Join(dir, "policy.ledger")) }) // after the server has ended
	server := opened(t, c)
	s.Wire, s.HTTP = server.WireAddr().String(), server.HTTPAddr().String()
	return server, s
}

// verified checks that a ledger is whole, and that it decided as it should.
func verified(t *testing.T, path string) {
	if _, err := sqlite.Verify(path); err != nil {
		t.Error(err)
		return
	}
	r, err := sqlite.Read(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer r.Close()
	again := replay.New()
	for line, err := range r.Records() {
		if err != nil {
			t.Error(err)
			return
		}
		again.Next(line.Record, line.Hash)
	}
	if decisions, differ := again.Decisions(); differ > 0 || decisions == 0 {
		t.Errorf("%d of %d decisions differ", differ, decisions)
	}
}

// from is an address of one's own on this machine: limits are for each address.
func from(i int) net.Dialer {
	return net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1+byte(i/200), 1+byte(i%200))}}
}

func (s *siege) dial(ctx context.Context, i int) *pgx.Conn {
	c, err := pgx.ParseConfig(fmt.Sprintf("postgres://u%d:%s@%s/hospital?sslmode=disable", i%crowdUsers, s.Passwords[i%crowdUsers], s.Wire))
	if err != nil {
		panic(err) // the text is ours
	}
	dialer := from(i)
	c.DialFunc = dialer.DialContext
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if m := receipt.FindStringSubmatch(n.Detail); m != nil {
			s.paid(m[1], i)
		}
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		// A dial that the end cuts off says so a moment before the context does.
		if end, limited := ctx.Deadline(); !limited || time.Until(end) > time.Second {
			s.odd("connecting", err)
		}
		return nil
	}
	return conn
}

func (s *siege) odd(what string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strange = append(s.strange, what+": "+err.Error())
}

// receipt finds which record of the ledger paid for an answer.
var receipt = regexp.MustCompile(`^receipt: record (\d+)`)

// question asks over the wire, and remembers which charge paid for the answer.
func (s *siege) question(ctx context.Context, c *pgx.Conn, text string, args ...any) (int64, error) {
	s.asked.Add(1)
	var n int64
	err := c.QueryRow(ctx, text, args...).Scan(&n)
	if err == nil {
		s.answered.Add(1)
	}
	return n, err
}

// visit is one client, from coming to leaving.
func (s *siege) visit(ctx context.Context, dice *rand.Rand, i int) {
	switch dice.IntN(10) {
	case 0:
		s.garbage(dice, i)
	case 1:
		s.mistaken(ctx, i)
	case 2:
		s.stalled(dice, i)
	case 3:
		s.fetch(ctx, dice, i)
	default:
		s.talk(ctx, dice, i)
	}
}

// talk asks some questions, and ends in one of several ways.
func (s *siege) talk(ctx context.Context, dice *rand.Rand, i int) {
	c := s.dial(ctx, i)
	if c == nil {
		return
	}
	defer c.Close(context.Background())
	for range 1 + dice.IntN(30) {
		if ctx.Err() != nil {
			return
		}
		text, age := "SELECT COUNT(*) FROM patients WHERE age > $1 AND cost < $2", dice.IntN(100)
		args := []any{age, strconv.Itoa(dice.IntN(10000))}
		switch dice.IntN(12) {
		case 0: // asks to cancel while it runs
			s.canceled.Add(1)
			key := c.PgConn().SecretKey()
			go cancel(s.Wire, c.PgConn().PID(), key)
		case 1: // hangs up while it runs
			s.cut.Add(1)
			go c.PgConn().Conn().Close()
			s.question(ctx, c, text, args...)
			return
		case 2:
			args = []any{pgx.QueryExecModeSimpleProtocol, age, args[1]}
		case 3: // is refused
			text, args = "SELECT pid FROM patients", nil
		case 4: // sends nonsense where a message should be
			s.garbled.Add(1)
			junk := make([]byte, 1+dice.IntN(200))
			for i := range junk {
				junk[i] = byte(dice.Uint32())
			}
			c.PgConn().Conn().Write(junk)
			return
		}
		_, err := s.question(ctx, c, text, args...)
		var said *pgconn.PgError
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.As(err, &said) && (said.Code == "57014" || said.Code == "53300" || said.Code == "55000" ||
			said.Code == "40001" || said.Code == "55D00" ||
			said.Code == "42501" || said.Code == "0A000" || said.Code == "42601" || said.Code == "42803"):
		case errors.As(err, &said):
			s.odd(text, fmt.Errorf("%s %s", said.Code, said.Message))
		default:
			return // the connection is gone
		}
	}
}

func cancel(address string, pid uint32, key []byte) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer c.Close()
	b := binary.BigEndian.AppendUint32(nil, uint32(12+len(key)))
	b = binary.BigEndian.AppendUint32(b, 80877102)
	b = binary.BigEndian.AppendUint32(b, pid)
	c.Write(append(b, key...))
	io.Copy(io.Discard, c)
}

// garbage is sent where a greeting should be.
func (s *siege) garbage(dice *rand.Rand, i int) {
	dialer := from(i)
	c, err := dialer.Dial("tcp", s.Wire)
	if err != nil {
		return
	}
	defer c.Close()
	s.garbled.Add(1)
	junk := make([]byte, 1+dice.IntN(20_000))
	for i := range junk {
		junk[i] = byte(dice.Uint32())
	}
	if dice.IntN(2) == 0 {
		junk = append([]byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f}, junk...) // TLS, please
	}
	c.SetDeadline(time.Now().Add(time.Second))
	c.Write(junk)
	io.Copy(io.Discard, io.LimitReader(c, 1<<20))
}

// stalled says half of something and falls silent.
func (s *siege) stalled(dice *rand.Rand, i int) {
	dialer := from(i)
	c, err := dialer.Dial("tcp", s.Wire)
	if err != nil {
		return
	}
	defer c.Close()
	s.silent.Add(1)
	c.Write([]byte{0, 0, 1, 0, 0, 3, 0, 0, 'u', 's', 'e', 'r', 0}[:1+dice.IntN(12)])
	c.SetDeadline(time.Now().Add(time.Duration(dice.IntN(300)) * time.Millisecond))
	io.Copy(io.Discard, c)
}

// mistaken has the wrong password, from an address of its own, which is locked out soon.
func (s *siege) mistaken(ctx context.Context, i int) {
	c, err := pgx.ParseConfig(fmt.Sprintf("postgres://u%d:wrong@%s/hospital?sslmode=disable", i%crowdUsers, s.Wire))
	if err != nil {
		panic(err) // the text is ours
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 200, 1+byte(i%200))}}
	c.DialFunc = dialer.DialContext
	s.wrong.Add(1)
	if conn, err := pgx.ConnectConfig(ctx, c); err == nil {
		conn.Close(ctx)
		s.odd("a wrong password", errors.New("let in"))
	}
}

func (s *siege) fetch(ctx context.Context, dice *rand.Rand, i int) {
	body := fmt.Sprintf(`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM visits WHERE cost < %d"}`, dice.IntN(2000))
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+s.HTTP+"/v1/query", strings.NewReader(body))
	if err != nil {
		panic(err) // the text is ours
	}
	r.Header.Set("Authorization", "Bearer "+s.Tokens[i%crowdUsers])
	r.Header.Set("Content-Type", "application/json")
	if dice.IntN(4) == 0 {
		hasty, done := context.WithTimeout(ctx, time.Duration(dice.IntN(20))*time.Millisecond)
		defer done()
		r = r.WithContext(hasty)
	}
	s.asked.Add(1)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	switch {
	case err != nil:
	case a.StatusCode == http.StatusOK:
		s.web.Add(1)
		s.answered.Add(1)
		if m := regexp.MustCompile(`"sequence":(\d+)`).FindSubmatch(text); m != nil {
			s.paid(string(m[1]), i)
		} else {
			s.odd("HTTP", fmt.Errorf("an answer without a receipt: %s", text))
		}
	case a.StatusCode != http.StatusTooManyRequests:
		s.odd("HTTP", fmt.Errorf("%d %s", a.StatusCode, text))
	}
}

func (s *siege) paid(sequence string, i int) {
	s.shown.Add(1)
	n, err := strconv.ParseUint(sequence, 10, 64)
	if err != nil {
		s.odd("a receipt", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receipts[n] = fmt.Sprintf("u%d", i%crowdUsers)
}

func quiet(t *testing.T, s *Server) {
	for range 400 {
		if s.pg.Connections() == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d connections are still open", s.pg.Connections())
}

// settled waits until no more goroutines end.
func settled(want int) int {
	n := runtime.NumGoroutine()
	for range 200 {
		if n <= want {
			break
		}
		time.Sleep(50 * time.Millisecond)
		n = runtime.NumGoroutine()
	}
	return n
}

// live is how much of the heap is in use.
func live() uint64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// checkPaid checks that every answer was paid for: its receipt is that of a charge.
func checkPaid(t *testing.T, s *Server, receipts map[uint64]string) {
	charges := map[uint64]bool{}
	for r, err := range s.db.Records(t.Context(), 0) {
		must(t, err)
		charges[r.Sequence] = r.Kind == ledger.KindCharge
	}
	for n, who := range receipts {
		if !charges[n] {
			t.Errorf("%s has an answer that record %d paid for, which is no charge", who, n)
		}
	}
	if len(receipts) == 0 {
		t.Error("nobody has a receipt")
	}
}
