package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// honest is a client as people use one: a connection of PostgreSQL's protocol and a browser.
type honest struct {
	x       *target
	who     account
	address string
	dice    *rand.Rand
	conn    *pgx.Conn
	web     *http.Client

	took   times
	failed []string
}

type crowd struct{ all []*honest }

// askedBefore makes questions that nobody has asked.
var askedBefore atomic.Int64

func newText() string {
	n := askedBefore.Add(1)
	if n%4 == 0 {
		return fmt.Sprintf("SELECT sex, COUNT(*), AVG(age) FROM patients WHERE cost < %d.%02d GROUP BY sex", n/100, n%100)
	}
	return fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age >= 18 AND cost < %d.%02d", n/100, n%100)
}

const known = "SELECT zip, COUNT(*) FROM patients WHERE smoker GROUP BY zip"

// honestKinds are what honest clients do, and how often. The owner does the owner's alone.
var honestKinds = []struct {
	name   string
	weight int
	owner  bool
	do     func(*honest, context.Context) error
}{
	{"wire: connect", 1, false, (*honest).connect},
	{"wire: new question, simple", 4, false, (*honest).newQuestion},
	{"wire: new question, prepared", 4, false, (*honest).newPrepared},
	{"wire: remembered", 6, false, func(h *honest, ctx context.Context) error { return h.simple(ctx, known) }},
	{"wire: EXPLAIN", 4, false, func(h *honest, ctx context.Context) error { return h.simple(ctx, "EXPLAIN "+newText()) }},
	{"wire: catalogue", 4, false, func(h *honest, ctx context.Context) error {
		return h.simple(ctx, `SELECT n.nspname, c.relname, a.attname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON `+
			`n.oid = c.relnamespace JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid WHERE c.relkind IN ('r', 'v') ORDER BY 1, 2, 3`)
	}},
	{"HTTP: new question", 4, false, func(h *honest, ctx context.Context) error { return h.post(ctx, "/v1/query", newText()) }},
	{"HTTP: remembered", 6, false, func(h *honest, ctx context.Context) error { return h.post(ctx, "/v1/query", known) }},
	{"HTTP: price", 4, false, func(h *honest, ctx context.Context) error { return h.post(ctx, "/v1/explain", newText()) }},
	{"HTTP: catalogue", 4, false, func(h *honest, ctx context.Context) error { return h.get(ctx, "/v1/datasets/hospital") }},
	{"HTTP: budget", 4, false, func(h *honest, ctx context.Context) error { return h.get(ctx, "/v1/datasets/hospital/budget") }},
	{"HTTP: sign in", 1, false, (*honest).signIn},
	{"owner: top-up draft", 2, true, func(h *honest, ctx context.Context) error {
		_, err := h.send(ctx, "POST", "/v1/datasets/hospital/topups/draft", `{"epsilon": 1, "reason": "a report"}`)
		return err
	}},
	{"owner: catalogue", 2, true, func(h *honest, ctx context.Context) error { return h.get(ctx, "/v1/datasets/hospital") }},
	{"owner: receipts", 2, true, func(h *honest, ctx context.Context) error { return h.get(ctx, "/v1/receipts?newest=true&limit=20") }},
	{"owner: metrics", 1, true, func(h *honest, ctx context.Context) error { return h.get(ctx, "/metrics") }},
}

func newCrowd(t *testing.T, x *target) *crowd {
	t.Helper()
	c := &crowd{}
	for i := range honestMany {
		h := &honest{x: x, address: fmt.Sprintf("198.51.100.%d", 1+i), dice: rand.New(rand.NewPCG(2, uint64(i))), took: times{}}
		h.web = x.client(h.address, true)
		c.all = append(c.all, h)
		if i >= 2*honestAccounts {
			h.who = x.Owner
			continue
		}
		h.who = x.Honest[i/2]
		for _, begin := range []func(context.Context) error{h.connect, h.signIn} {
			must(t, begin(t.Context()))
		}
	}
	return c
}

// spend lets all of them work for some time, and returns what took how long since the last time.
func (c *crowd) spend(t *testing.T, lasting time.Duration) times {
	t.Helper()
	end := time.Now().Add(lasting)
	var all sync.WaitGroup
	for _, h := range c.all {
		all.Go(func() {
			for time.Now().Before(end) {
				h.once(t.Context())
				time.Sleep(time.Duration(100+h.dice.IntN(600)) * time.Millisecond)
			}
		})
	}
	all.Wait()
	return c.forget()
}

// forget returns what was measured, and begins anew.
func (c *crowd) forget() times {
	all := times{}
	for _, h := range c.all {
		for kind, took := range h.took {
			all[kind] = append(all[kind], took...)
		}
		h.took = times{}
	}
	return all
}

func (h *honest) once(ctx context.Context) {
	var choice []int
	owner := h.who == h.x.Owner
	for i, k := range honestKinds {
		for range k.weight {
			if k.owner == owner {
				choice = append(choice, i)
			}
		}
	}
	k := honestKinds[choice[h.dice.IntN(len(choice))]]
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	begin := time.Now()
	err := k.do(h, ctx)
	h.took[k.name] = append(h.took[k.name], time.Since(begin))
	if err != nil {
		h.failed = append(h.failed, fmt.Sprintf("%s %s: %v", h.who.Name, k.name, err))
		if h.who != h.x.Owner && (h.conn == nil || h.conn.IsClosed()) {
			if err := h.connect(ctx); err != nil {
				h.failed = append(h.failed, err.Error())
			}
		}
	}
}

func (h *honest) connect(ctx context.Context) (err error) {
	if h.conn != nil {
		go h.conn.Close(context.Background())
	}
	h.conn, err = h.x.connect(ctx, h.who, h.address)
	return err
}

func (h *honest) simple(ctx context.Context, text string) error {
	if h.conn == nil {
		return errors.New("there is no connection")
	}
	_, err := h.conn.Exec(ctx, text)
	return err
}

func (h *honest) newQuestion(ctx context.Context) error { return h.simple(ctx, newText()) }

func (h *honest) newPrepared(ctx context.Context) error {
	if h.conn == nil {
		return errors.New("there is no connection")
	}
	n := askedBefore.Add(1)
	var count int64
	return h.conn.QueryRow(ctx, "SELECT COUNT(*) FROM patients WHERE age < $1 AND cost < $2", 90,
		fmt.Sprintf("%d.%02d", n/100, n%100)).Scan(&count)
}

func (h *honest) send(ctx context.Context, method, at, body string) (string, error) {
	return fetchWith(ctx, h.web, method, "https://"+h.x.HTTP+at, h.who.Token, body)
}

func (h *honest) get(ctx context.Context, at string) error {
	_, err := h.send(ctx, "GET", at, "")
	return err
}

func (h *honest) post(ctx context.Context, at, text string) error {
	_, err := h.send(ctx, "POST", at, fmt.Sprintf(`{"dataset": "hospital", "sql": %q}`, text))
	return err
}

// signIn signs in as a browser does.
func (h *honest) signIn(ctx context.Context) error {
	_, err := fetchWith(ctx, h.web, "POST", "https://"+h.x.HTTP+"/v1/signin", "", fmt.Sprintf(`{"name": %q, "password": %q}`, h.who.Name,
		h.who.Password))
	return err
}

// wires is how many connections of PostgreSQL's protocol they have.
func (c *crowd) wires() (n int) {
	for _, h := range c.all {
		if h.conn != nil && !h.conn.IsClosed() {
			n++
		}
	}
	return n
}

func (c *crowd) check(t *testing.T) {
	t.Helper()
	var all []string
	for _, h := range c.all {
		all = append(all, h.failed...)
	}
	if len(all) > 0 {
		t.Errorf("%d honest requests failed", len(all))
	}
	for _, line := range all[:min(len(all), 20)] {
		t.Error(line)
	}
}

func (c *crowd) close() {
	for _, h := range c.all {
		if h.conn != nil {
			h.conn.Close(context.Background())
		}
		h.web.CloseIdleConnections()
	}
}
