package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// expensiveTexts take long to plan. The numbers in them make each of them new.
var expensiveTexts = []func(n int) string{
	func(n int) string { // a long list
		var b strings.Builder
		for i := range 1500 {
			fmt.Fprintf(&b, "%d, ", i+n)
		}
		return fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age IN (%s-1)", b.String())
	},
	func(n int) string { // a key that is evaluated for each combination
		return fmt.Sprintf("SELECT rpad(zip, %d, diagnosis) AS k, COUNT(*) FROM patients GROUP BY rpad(zip, %d, diagnosis)", 2000+n%1000,
			2000+n%1000)
	},
	func(n int) string { // a pattern that goes back
		pattern := strings.Repeat("%a", 20) + fmt.Sprint("%", n)
		key := fmt.Sprintf("repeat(zip, 40) LIKE '%s'", pattern)
		return fmt.Sprintf("SELECT %s AS k, COUNT(*) FROM patients GROUP BY %s", key, key)
	},
	func(n int) string { // many aggregates
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, ", SUM(CASE WHEN age > %d THEN cost END)", (n+i)%100)
		}
		return "SELECT COUNT(*)" + b.String() + " FROM patients"
	},
}

func (h *hostile) silentWire(ctx context.Context) error { return h.silent(ctx, h.Wire) }
func (h *hostile) silentHTTP(ctx context.Context) error { return h.silent(ctx, h.HTTP) }

func (h *hostile) silent(ctx context.Context, to string) error {
	c, err := h.open(ctx, to)
	if err != nil {
		return err
	}
	defer c.Close()
	return wait(c, time.Minute)
}

// halfStartup says the beginning of a startup, and sometimes with TLS.
func (h *hostile) halfStartup(ctx context.Context) error {
	c, err := h.open(ctx, h.Wire)
	if err != nil {
		return err
	}
	defer c.Close()
	c.Write([]byte{0, 0, 1, 0, 0, 3, 0, 0, 'u', 's', 'e', 'r', 0}[:1+h.dice.IntN(12)])
	return wait(c, time.Minute)
}

// halfHandshake begins TLS with a message that is long and does not end.
func (h *hostile) halfHandshake(ctx context.Context) error {
	to := []string{h.Wire, h.HTTP}[h.n%2]
	c, err := h.open(ctx, to)
	if err != nil {
		return err
	}
	defer c.Close()
	if to == h.Wire {
		c.Write([]byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f})
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			return err
		}
	}
	c.Write(append([]byte{22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff}, make([]byte, 12_000)...))
	return wait(c, time.Minute)
}

func (h *hostile) garbage(ctx context.Context) error {
	c, err := h.open(ctx, []string{h.Wire, h.HTTP}[h.n%2])
	if err != nil {
		return err
	}
	defer c.Close()
	junk := make([]byte, 1+h.dice.IntN(20_000))
	for i := range junk {
		junk[i] = byte(h.dice.Uint32())
	}
	c.Write(junk)
	return wait(c, time.Minute)
}

// wrongScram tries a password without the work of a client: the proof is made up.
func (h *hostile) wrongScram(ctx context.Context) error {
	c, err := h.open(ctx, h.Wire)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	c.Write([]byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f})
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		return err
	}
	return h.guess(h.secure(c))
}

// name is one that somebody guesses at: an honest client's, or nobody's.
func (h *hostile) name() string {
	if h.n%2 == 0 {
		return h.Honest[h.dice.IntN(len(h.Honest))].Name
	}
	return fmt.Sprintf("nobody%d", h.dice.IntN(1000))
}

func (h *hostile) guess(c net.Conn) error {
	f := pgproto3.NewFrontend(c, c)
	f.Send(&pgproto3.StartupMessage{ProtocolVersion: 196608, Parameters: map[string]string{"user": h.name(), "database": "hospital"}})
	for {
		if err := f.Flush(); err != nil {
			return err
		}
		m, err := f.Receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.AuthenticationSASL:
			f.Send(&pgproto3.SASLInitialResponse{AuthMechanism: "SCRAM-SHA-256", Data: []byte("n,,n=,r=abcdefghijklmnop")})
		case *pgproto3.AuthenticationSASLContinue:
			nonce, _, _ := strings.Cut(string(m.Data), ",")
			f.Send(&pgproto3.SASLResponse{Data: []byte("c=biws," + nonce + ",p=" + strings.Repeat("A", 43) + "=")})
		case *pgproto3.ErrorResponse:
			return pgError(m)
		default:
			return errors.New("this was not to be said")
		}
	}
}

// wrongCancel cancels what it does not know.
func (h *hostile) wrongCancel(ctx context.Context) error {
	c, err := h.open(ctx, h.Wire)
	if err != nil {
		return err
	}
	defer c.Close()
	b := binary.BigEndian.AppendUint32(nil, 16)
	b = binary.BigEndian.AppendUint32(b, 80877102)
	b = binary.BigEndian.AppendUint32(b, h.dice.Uint32N(1000))
	c.Write(binary.BigEndian.AppendUint32(b, h.dice.Uint32()))
	return wait(c, time.Minute)
}

// deafWire asks for a large answer and reads nothing of it.
func (h *hostile) deafWire(ctx context.Context) error {
	c, err := h.raw(ctx)
	if err != nil {
		return err
	}
	defer c.Conn.Close()
	defer context.AfterFunc(ctx, func() { c.Conn.Close() })()
	for range 3 {
		c.Frontend.Send(&pgproto3.Query{String: rows(8000)})
	}
	if err := c.Frontend.Flush(); err != nil {
		return err
	}
	h.rest(ctx, 45*time.Second)
	return wait(c.Conn, time.Minute)
}

func (h *hostile) refusedText(ctx context.Context) error {
	c, err := h.logged(ctx)
	if err != nil {
		return err
	}
	texts := []string{"SELECT pid FROM patients", "SELEC " + strings.Repeat("(", 4000), "SELECT COUNT(*) FROM patients WHERE " +
		strings.Repeat("age > 1 AND ", 3000) + "zip", "SELECT '" + strings.Repeat("x", 60_000) + "' FROM nothing",
		strings.Repeat("SELECT 1; ", 90) + "SELEC"}
	_, err = c.Exec(ctx, texts[h.n%len(texts)])
	return err
}

func (h *hostile) expensive() string {
	return expensiveTexts[h.n%len(expensiveTexts)](1000*h.id + h.n)
}

func (h *hostile) expensivePlan(ctx context.Context) error {
	c, err := h.logged(ctx)
	if err != nil {
		return err
	}
	if h.n%2 == 0 {
		_, err = c.Prepare(ctx, "", h.expensive())
		return err
	}
	_, err = c.Exec(ctx, "EXPLAIN "+h.expensive())
	return err
}

// describeFlood sends messages that are answered, and neither reads nor says Sync.
func (h *hostile) describeFlood(ctx context.Context) error {
	c, err := h.raw(ctx)
	if err != nil {
		return err
	}
	defer c.Conn.Close()
	defer context.AfterFunc(ctx, func() { c.Conn.Close() })()
	var columns strings.Builder
	for i := range 500 {
		fmt.Fprintf(&columns, ", 1 AS c%d", i)
	}
	c.Conn.SetWriteDeadline(time.Now().Add(45 * time.Second))
	c.Frontend.Send(&pgproto3.Parse{Name: "p", Query: "SELECT 1" + columns.String()})
	for range 20_000 {
		c.Frontend.Send(&pgproto3.Describe{ObjectType: 'S', Name: "p"})
		c.Frontend.Send(&pgproto3.Bind{PreparedStatement: "p"})
		if err := c.Frontend.Flush(); err != nil {
			return err
		}
	}
	return wait(c.Conn, 30*time.Second)
}

// ownCancel cancels what it asks as soon as it has asked, and half of it with a wrong key.
func (h *hostile) ownCancel(ctx context.Context) error {
	c, err := h.logged(ctx)
	if err != nil {
		return err
	}
	pid, key := c.PgConn().PID(), append([]byte{}, c.PgConn().SecretKey()...)
	key[0] ^= byte(h.n % 2)
	go func() {
		h.rest(ctx, time.Duration(h.n%10)*10*time.Millisecond)
		if conn, err := h.dial(ctx, h.Wire, h.home()); err == nil {
			b := binary.BigEndian.AppendUint32(nil, uint32(12+len(key)))
			b = binary.BigEndian.AppendUint32(b, 80877102)
			b = binary.BigEndian.AppendUint32(b, pid)
			conn.Write(append(b, key...))
			conn.Close()
		}
	}()
	_, err = c.Exec(ctx, h.fresh())
	return err
}

// fresh is a question that nobody has asked.
func (h *hostile) fresh() string {
	n := h.n*1000 + h.id*30 + h.kind
	return fmt.Sprintf("SELECT ward, COUNT(*) FROM visits WHERE cost > %d.%02d AND cost < 1999 GROUP BY ward", n/100, n%100)
}

func (h *hostile) newQuestions(ctx context.Context) error {
	c, err := h.logged(ctx)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, h.fresh())
	return err
}

// longOuter asks for free what takes long over an answer.
func (h *hostile) longOuter(ctx context.Context) error {
	c, err := h.logged(ctx)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "SELECT sum(a.n * g.i) FROM (SELECT count(*) AS n FROM patients) AS a, generate_series(1, 10000) AS g(i), "+
		fmt.Sprintf("generate_series(1, %d) AS h(j)", 10_000+h.n))
	return err
}

func (h *hostile) longCatalogue(ctx context.Context) error {
	c, err := h.logged(ctx)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "SELECT count(*) FROM pg_catalog.pg_type a, pg_catalog.pg_type b, pg_catalog.pg_type c, pg_catalog.pg_type d")
	return err
}

func (h *hostile) comeAndGo(ctx context.Context) error {
	_, err := h.logged(ctx)
	h.hangUp()
	return err
}
