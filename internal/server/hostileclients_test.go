package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// target is a server and who may come in, as other processes are told.
type target struct {
	Wire, HTTP      string
	Certificate     []byte
	Honest, Hostile []account
	Owner           account
	Lasting         time.Duration
	Only            string // an expression that finds kinds
	Share           int    // percent of the hostile clients
}

// secured is what clients know of the certificate.
func (x *target) secured(protocols ...string) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(x.Certificate)
	return &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", NextProtos: protocols}
}

// dial connects as a proxy does for a client at some address.
func (x *target) dial(ctx context.Context, to, client string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(c, "PROXY TCP4 %s 192.0.2.1 40000 5432\r\n", client); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (x *target) connect(ctx context.Context, who account, client string) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig(fmt.Sprintf("postgres://%s:%s@%s/hospital?sslmode=require&default_query_exec_mode=cache_describe",
		who.Name, who.Password, x.Wire))
	if err != nil {
		return nil, err
	}
	c.TLSConfig = x.secured()
	c.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return x.dial(ctx, x.Wire, client) }
	return pgx.ConnectConfig(ctx, c)
}

// client is one of HTTP/2, or of HTTP/1.
func (x *target) client(address string, two bool) *http.Client {
	var p http.Protocols
	p.SetHTTP2(two)
	p.SetHTTP1(!two)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: x.secured(), Protocols: &p, ForceAttemptHTTP2: two,
		HTTP2:       &http.HTTP2Config{MaxReceiveBufferPerStream: 16 << 10},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return x.dial(ctx, x.HTTP, address) }}}
}

// hostile is one hostile client: what it does it does again and again.
type hostile struct {
	*target
	who  account // whose account it has, where it has one
	dice *rand.Rand
	conn *pgx.Conn // that is open still
	web  *http.Client
	kind int
	id   int
	n    int // so often it did it
}

// hostileKind is one way to be hostile.
type hostileKind struct {
	name string
	many int           // clients at once
	rest time.Duration // between two attempts of one
	do   func(*hostile, context.Context) error
}

// hostileTally is what came of a kind.
type hostileTally struct {
	Name     string
	Outcomes map[string]int
}

const (
	done  = "done"
	atEnd = "open at the end"
)

// stranger is an address of somebody without an account. There are some 500.
func (h *hostile) stranger() string {
	return fmt.Sprintf("203.0.%d.%d", 112+h.dice.IntN(2), 1+h.dice.IntN(250))
}

// home is the address of somebody with one.
func (h *hostile) home() string { return fmt.Sprintf("100.64.%d.%d", h.kind, 1+h.id%4) }

// TestHostileClients is the other process of TestHostile.
func TestHostileClients(t *testing.T) {
	plan := os.Getenv("DISCREET_HOSTILE")
	if plan == "" {
		t.Skip("it is a part of TestHostile")
	}
	x := &target{}
	must(t, json.Unmarshal([]byte(plan), x))
	ctx, stop := context.WithTimeout(t.Context(), x.Lasting)
	defer stop()
	only := regexp.MustCompile(x.Only)
	kinds := slices.DeleteFunc(hostileKinds(), func(k hostileKind) bool { return !only.MatchString(k.name) })
	told := make([]hostileTally, len(kinds))
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, k := range kinds {
		told[i] = hostileTally{k.name, map[string]int{}}
		for id := range max(1, k.many*x.Share/100) {
			h := &hostile{target: x, who: x.Hostile[i%len(x.Hostile)], dice: rand.New(rand.NewPCG(uint64(i), uint64(id))), kind: i, id: id}
			all.Go(func() {
				h.rest(ctx, time.Duration(h.dice.IntN(1000))*time.Millisecond)
				for ; ctx.Err() == nil; h.n++ {
					outcome := outcomeOf(k.do(h, ctx))
					if ctx.Err() != nil && outcome != done {
						outcome = atEnd
					}
					mu.Lock()
					told[i].Outcomes[outcome]++
					mu.Unlock()
					h.rest(ctx, k.rest)
				}
				h.hangUp()
			})
		}
	}
	all.Wait()
	text, err := json.Marshal(told)
	must(t, err)
	fmt.Println(string(text))
}

func (h *hostile) rest(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// outcomeOf is what a client was told: a code of PostgreSQL, a status of HTTP, or nothing.
func outcomeOf(err error) string {
	var wire *pgconn.PgError
	var webLimits *statusError
	switch {
	case err == nil:
		return done
	case errors.As(err, &wire):
		return wire.Code
	case errors.As(err, &webLimits):
		return strconv.Itoa(webLimits.status)
	case errors.Is(err, errUnanswered):
		return "waits"
	}
	return "cut off"
}

// errUnanswered: the server said nothing, and did not hang up either.
var errUnanswered = errors.New("nothing was said")

// logged is a connection of the client's own account.
func (h *hostile) logged(ctx context.Context) (*pgx.Conn, error) {
	if h.conn != nil && !h.conn.IsClosed() {
		return h.conn, nil
	}
	c, err := h.connect(ctx, h.who, h.home())
	h.conn = c
	return c, err
}

func (h *hostile) hangUp() {
	if h.conn != nil {
		h.conn.Close(context.Background())
		h.conn = nil
	}
	if h.web != nil {
		h.web.CloseIdleConnections()
	}
}

// raw is a connection that is logged in and that the test reads and writes itself.
func (h *hostile) raw(ctx context.Context) (*pgconn.HijackedConn, error) {
	c, err := h.connect(ctx, h.who, h.home())
	if err != nil {
		return nil, err
	}
	return c.PgConn().Hijack()
}

// open is a connection of a stranger, which ends with the context.
func (h *hostile) open(ctx context.Context, to string) (net.Conn, error) {
	c, err := h.dial(ctx, to, h.stranger())
	if err == nil {
		context.AfterFunc(ctx, func() { c.Close() })
	}
	return c, err
}

// wait reads until the server hangs up, or for some time.
func wait(c net.Conn, d time.Duration) error {
	b := make([]byte, 4096)
	c.SetReadDeadline(time.Now().Add(d))
	for {
		if _, err := c.Read(b); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return errUnanswered
			}
			return err
		}
	}
}

// hostileKinds are all of them: strangers first, then analysts.
func hostileKinds() []hostileKind {
	return []hostileKind{
		{"stranger: silent, wire", 150, 0, (*hostile).silentWire},
		{"stranger: silent, HTTP", 150, 0, (*hostile).silentHTTP},
		{"stranger: half a startup", 20, 50 * time.Millisecond, (*hostile).halfStartup},
		{"stranger: half a handshake", 20, 50 * time.Millisecond, (*hostile).halfHandshake},
		{"stranger: half a request, byte by byte", 20, 50 * time.Millisecond, (*hostile).halfRequest},
		{"stranger: garbage", 4, 20 * time.Millisecond, (*hostile).garbage},
		{"stranger: wrong password, wire", 8, 10 * time.Millisecond, (*hostile).wrongScram},
		{"stranger: wrong password, page", 16, 10 * time.Millisecond, (*hostile).wrongSignIn},
		{"stranger: wrong cookies and tokens", 4, 10 * time.Millisecond, (*hostile).wrongCookie},
		{"stranger: cancels", 4, 10 * time.Millisecond, (*hostile).wrongCancel},
		{"stranger: HTTP/2 resets", 2, 20 * time.Millisecond, (*hostile).strangeResets},
		{"analyst: reads nothing, wire", 10, 0, (*hostile).deafWire},
		{"analyst: reads nothing, HTTP/1", 10, 0, (*hostile).deafOne},
		{"analyst: reads nothing, HTTP/2 streams", 4, 0, (*hostile).deafTwo},
		{"analyst: bodies that do not come", 10, 0, (*hostile).unsentBody},
		{"analyst: refused texts", 40, 0, (*hostile).refusedText},
		{"analyst: expensive plans, EXPLAIN", 10, 0, (*hostile).expensivePlan},
		{"analyst: expensive plans, HTTP", 10, 0, (*hostile).expensivePrice},
		{"analyst: Parse, Bind, Describe without Sync", 4, 0, (*hostile).describeFlood},
		{"analyst: cancels of one's own", 6, 0, (*hostile).ownCancel},
		{"analyst: HTTP/2 resets", 2, 20 * time.Millisecond, (*hostile).ownResets},
		{"analyst: new questions", 20, 0, (*hostile).newQuestions},
		{"analyst: new questions, HTTP", 20, 0, (*hostile).newQuestionsHTTP},
		{"analyst: long queries over answers", 6, 0, (*hostile).longOuter},
		{"analyst: long queries of the catalogue", 6, 0, (*hostile).longCatalogue},
		{"analyst: sparse sessions", 4, 0, (*hostile).sparseSession},
		{"analyst: comes and goes", 4, 0, (*hostile).comeAndGo},
		{"analyst: long bodies", 8, 0, (*hostile).longBodies},
		{"analyst: saves and removes", 8, 0, (*hostile).saves},
		{"analyst: one's own receipts", 8, 0, (*hostile).ownReceipts},
		{"analyst: long queries of the sandbox", 6, 0, (*hostile).longSandbox},
		{"analyst: lists of tools", 8, 0, (*hostile).listTools},
	}
}
