package pgwire

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// recordedClient is a client that has sent everything already, takes everything, and hangs up when
// the server waits for more. While the server only watches it, which it does without a deadline,
// the client waits too.
type recordedClient struct {
	mu       sync.Mutex
	wake     *sync.Cond
	in       *bytes.Reader
	out      bytes.Buffer
	deadline time.Time
}

func newRecordedClient(b []byte) *recordedClient {
	c := &recordedClient{in: bytes.NewReader(b)}
	c.wake = sync.NewCond(&c.mu)
	return c
}

func (c *recordedClient) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case !c.deadline.IsZero() && c.deadline.Before(time.Now()):
			return 0, os.ErrDeadlineExceeded
		case c.in.Len() > 0:
			return c.in.Read(p)
		case !c.deadline.IsZero():
			return 0, io.EOF
		}
		c.wake.Wait()
	}
}

func (c *recordedClient) Write(p []byte) (int, error)        { return c.out.Write(p) }
func (c *recordedClient) Close() error                       { return nil }
func (c *recordedClient) LocalAddr() net.Addr                { return nil }
func (c *recordedClient) RemoteAddr() net.Addr               { return nil }
func (c *recordedClient) SetDeadline(t time.Time) error      { return c.SetReadDeadline(t) }
func (c *recordedClient) SetWriteDeadline(t time.Time) error { return nil }
func (c *recordedClient) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	c.wake.Broadcast()
	return nil
}

// FuzzStartup sends any bytes to somebody who does not know who is there. Nobody gets in, and
// nothing breaks.
func FuzzStartup(f *testing.F) {
	p := newTestServer(f, "")
	server := New(Options{Dispatcher: p.dispatcher, Users: p.store})
	start := startupPacket(version3, "user\x00ana\x00database\x00hospital\x00options\x00-c dp.epsilon=1\x00\x00")
	for _, b := range [][]byte{
		{}, start, startupPacket(sslCode, ""), startupPacket(gssCode, ""), append(startupPacket(sslCode, ""), start...),
		startupPacket(3<<16+2, "user\x00ana\x00_pq_.x\x001\x00\x00"),
		append(bytes.Clone(start), packet('p', "SCRAM-SHA-256\x00\x00\x00\x00\x20n,,n=,r=rOprNGfwEbeRWgbNEkqO")...),
		append(append(bytes.Clone(start), packet('p', "SCRAM-SHA-256\x00\x00\x00\x00\x20n,,n=,r=rOprNGfwEbeRWgbNEkqO")...),
			packet('p', "c=biws,r=rOprNGfwEbeRWgbNEkqO,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")...),
		startupPacket(80877102, "\x00\x00\x00\x01\x00\x00\x00\x02"), append(bytes.Clone(start), packet('Q', "SELECT 1\x00")...),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		client := newRecordedClient(b)
		c := newConnection(server, client, "10.0.0.1")
		c.serve()
		if c.user.Name != "" || bytes.Contains(client.out.Bytes(), []byte("server_version")) {
			t.Fatalf("somebody is in: %q", client.out.Bytes())
		}
		if strings.Contains(client.out.String(), internalError) {
			t.Fatalf("a fault: %q", client.out.Bytes())
		}
	})
}

// FuzzSession sends any bytes to somebody who knows that it is ana. What comes back can be parsed,
// and is no fault.
func FuzzSession(f *testing.F) {
	p := newTestServer(f, "")
	server := New(Options{Dispatcher: p.dispatcher, Users: p.store})
	all := func(b ...[]byte) []byte { return bytes.Join(b, nil) }
	sync := packet('S', "")
	for _, b := range [][]byte{
		{}, packet('Q', countQuery+"\x00"),
		packet('Q', "SET dp.epsilon = 0.01; SELECT sex, count(*) FROM patients GROUP BY sex; SHOW dp.budget\x00"),
		all(packet('P', "s\x00SELECT count(*) FROM patients WHERE age > $1\x00\x00\x01\x00\x00\x00\x17"), packet('D', "Ss\x00"),
			packet('B', "p\x00s\x00\x00\x01\x00\x01\x00\x01\x00\x00\x00\x04\x00\x00\x00\x05\x00\x01\x00\x01"), packet('D', "Pp\x00"),
			packet('E', "p\x00\x00\x00\x00\x01"), packet('C', "Pp\x00"), packet('H', ""), sync),
		packet('Q', "BEGIN; SAVEPOINT a; ROLLBACK TO a; RELEASE a; COMMIT\x00"), packet('Q', "SELECT version(), current_user\x00"),
		packet('Q', "EXPLAIN (FORMAT JSON) SELECT avg(cost) FROM patients\x00"),
		packet('Q', "SHOW ALL; RESET ALL; DISCARD ALL; DEALLOCATE ALL\x00"),
		packet('Q', "SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relkind IN ('r','p') ORDER BY 1\x00"),
		packet('F', "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"), packet('X', ""),
	} {
		f.Add(b, false)
	}
	for _, text := range []string{
		"Q" + countQuery + "\x00", "P\x00SELECT count(*) FROM patients WHERE sex = " +
			"$1\x00\x00\x00|D\x53\x00|B\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01F\x00\x00|E\x00\x00\x00\x00\x01|S",
		"QBEGIN\x00|QSET LOCAL dp.epsilon = 0.1\x00|Qx\x00|QCOMMIT\x00",
		"Pa\x00SHOW ALL\x00\x00\x00|Bp\x00a\x00\x00\x00\x00\x00\x00\x00|DPp\x00|Ep\x00\x00\x00\x00\x02|Ep\x00\x00\x00\x00\x00|S",
		"QSELECT set_config('dp.epsilon', '0.5', false), current_setting('dp.epsilon')\x00",
		"P\x00SELECT oid FROM pg_class WHERE relname = " +
			"ANY($1)\x00\x00\x01\x00\x00\x03\xf1|DS\x00|" +
			"B\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0a{patients}\x00\x01\x00\x01|E\x00\x00\x00\x00\x00|S",
	} {
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, framed bool) {
		if framed { // lengths are right, so that more than lengths is tried
			var all []byte
			for piece := range bytes.SplitSeq(b, []byte("|")) {
				if len(piece) > 0 {
					all = append(all, packet(piece[0], string(piece[1:]))...)
				}
			}
			b = all
		}
		client := newRecordedClient(b)
		c := logInAna(t, server, client)
		err := c.handleMessages()
		c.refuse(err)
		state := c.protocol
		server.executions.remove(state.execution)
		state.objects.closePortals()
		state.objects.closeStatements()
		if err == nil || state.memory.kept != state.runner.views.bytes {
			t.Fatalf("ended with %v, keeping %d bytes, and views of %d", err, state.memory.kept, state.runner.views.bytes)
		}
		if state.memory.share.Close(); server.options.Held.Held() != 0 {
			t.Fatalf("%d bytes are held for nobody", server.options.Held.Held())
		}
		out := client.out.Bytes()
		for len(out) > 0 { // it is a sequence of messages
			if len(out) < 5 {
				t.Fatalf("half a message at the end: %q", out)
			}
			n := int(out[1])<<24 | int(out[2])<<16 | int(out[3])<<8 | int(out[4])
			if n < 4 || n+1 > len(out) {
				t.Fatalf("a message of %d bytes of %d", n, len(out))
			}
			if out[0] == 'E' && bytes.Contains(out[:n+1], []byte("C"+internalError)) {
				t.Fatalf("a fault: %q for %q", out[:n+1], b)
			}
			out = out[n+1:]
		}
	})
}

// logInAna makes a connection of ana's without a login.
func logInAna(t testing.TB, server *Server, client net.Conn) *connection {
	t.Helper()
	c := newConnection(server, client, "10.0.0.1")
	c.user = users.User{Name: "ana", Role: users.Analyst}
	c.open()
	must(t, c.chooseDataset("hospital"))
	must(t, c.beginProtocol(map[string]string{"user": "ana"}))
	return c
}

// FuzzParameter reads any bytes as any type. What is read is written in one way, and that is read
// as itself.
func FuzzParameter(f *testing.F) {
	oids := []uint32{boolOID, int2OID, int4OID, int8OID, oidOID, float4OID, float8OID, numericOID, textOID, varcharOID, bpcharOID, nameOID,
		unknownOID, dateOID, timestampOID, timestamptzOID,
		pgtype.TextArrayOID, pgtype.Int4ArrayOID, pgtype.OIDArrayOID, jsonOID, pgtype.ByteaOID, pgtype.UUIDOID, pgtype.IntervalOID,
		pgtype.PointOID, 0, 99999}
	texts := []string{"1", "-12.5e3", "NaN", "t", "2025-02-03", "2025-02-03 04:05:06.789+02", "{a,\"b c\",NULL}", "\x00\x00\x00\x05",
		"\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05", "1e999999"}
	for i := range oids { // few: each of them takes a while to begin with
		f.Add(byte(i), i%2 == 0, []byte(texts[i%len(texts)]))
		f.Add(byte(i), i%2 == 1, []byte(texts[(i+3)%len(texts)]))
	}
	types := pgtype.NewMap()
	f.Fuzz(func(t *testing.T, which byte, binary bool, data []byte) {
		oid := oids[int(which)%len(oids)]
		format := map[bool]int16{true: pgtype.BinaryFormatCode, false: pgtype.TextFormatCode}[binary]
		a, err := decode(types, 1, oid, format, data)
		if err != nil {
			if e := toWireError(context.Background(), err); e.code == internalError {
				t.Fatalf("a fault: %v", err)
			}
			return
		}
		if data == nil {
			return
		}
		text := a.question.Text
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			t.Fatalf("%q is no text", text)
		}
		if a.question.Kind == "integer" {
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		again, err := decode(types, 1, oid, pgtype.TextFormatCode, []byte(text))
		if err != nil || again.question != a.question {
			t.Fatalf("%v of %q is %q, and then %q %v", oid, data, text, again.question.Text, err)
		}
	})
}
