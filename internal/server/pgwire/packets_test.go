package pgwire

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// dial opens a connection and says nothing.
func (p *testServer) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.address)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(30 * time.Second))
	return c
}

// hijack logs in with pgx and returns the bare connection, for what no client would send.
func (p *testServer) hijack(t testing.TB) (net.Conn, *pgproto3.Frontend) {
	t.Helper()
	config, bare := p.config(t, "ana", "hospital"), &unbufferedConn{}
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		bare.from = r
		return pgproto3.NewFrontend(r, w)
	}
	h, err := p.connect(t, config).PgConn().Hijack()
	must(t, err)
	bare.Conn = h.Conn
	t.Cleanup(func() { bare.Close() })
	bare.SetDeadline(time.Now().Add(30 * time.Second))
	return bare, pgproto3.NewFrontend(bare, bare)
}

// unbufferedConn is a connection that is read where pgx reads it: on a busy machine pgx has begun
// to read behind one's back when it is taken from it, and has the first bytes of what comes.
type unbufferedConn struct {
	net.Conn
	from io.Reader
}

func (b *unbufferedConn) Read(to []byte) (int, error) { return b.from.Read(to) }

// packet is a message with a type.
func packet(kind byte, body string) []byte {
	b := append([]byte{}, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)+4))
	return append(b, body...)
}

// startupPacket is a packet without a type.
func startupPacket(code uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	b = binary.BigEndian.AppendUint32(b, code)
	return append(b, body...)
}

const sslCode, gssCode, version3 = 80877103, 80877104, 3 << 16

func readAll(c net.Conn) string {
	all, _ := io.ReadAll(c)
	return string(all)
}

// What is no startup gets an error or a closed connection, and the server stays.
func TestBadStartup(t *testing.T) {
	p := startTestServer(t, func(o *Options) { o.StartupDeadline = 5 * time.Second })
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"nothing":            {nil, ""},
		"half a length":      {[]byte{0, 0}, ""},
		"half a startup":     {startupPacket(version3, "user\x00ana\x00\x00")[:12], "08P01"},
		"http":               {[]byte("GET / HTTP/1.1\r\n\r\n"), "08P01"},
		"tls without asking": {[]byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03}, "08P01"},
		"too long":           {startupPacket(version3, "user\x00ana\x00database\x00"+strings.Repeat("x", 8200)+"\x00\x00"), "08P01"},
		"longest length":     {[]byte{0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0}, "08P01"},
		"length of 4":        {[]byte{0, 0, 0, 4, 0, 3, 0, 0}, "08P01"},
		"version 2":          {startupPacket(2<<16, "user\x00ana\x00\x00"), "08P01"},
		"no end":             {startupPacket(version3, "user\x00ana"), "08P01"},
		"no user":            {startupPacket(version3, "database\x00hospital\x00\x00"), "28000"},
		"bad text":           {startupPacket(version3, "user\x00\xff\xfe\x00\x00"), "22021"},
		"replication":        {startupPacket(version3, "user\x00ana\x00replication\x00database\x00\x00"), "0A000"},
		"three requests":     {bytes.Repeat(startupPacket(gssCode, ""), 4), "08P01"},
		"cancel nobody":      {startupPacket(80877102, "\x00\x00\x00\x01\x00\x00\x00\x02"), ""},
		"cancel too short":   {startupPacket(80877102, "\x00\x00"), "08P01"},
		"query before login": {append(startupPacket(version3, "user\x00ana\x00\x00"), packet('Q', "SELECT 1\x00")...), "08P01"},
		"long password":      {append(startupPacket(version3, "user\x00ana\x00\x00"), packet('p', strings.Repeat("x", 9000))...), "08P01"},
		"bad password": {append(startupPacket(version3, "user\x00ana\x00\x00"), packet('p', "SCRAM-SHA-256\x00\xff\xff\xff\xffn,,")...),
			"28P01"},
		"other mechanism": {append(startupPacket(version3, "user\x00ana\x00\x00"), packet('p', "PLAIN\x00\x00\x00\x00\x00")...), "08P01"},
		"half a password": {append(startupPacket(version3, "user\x00ana\x00\x00"), packet('p', "SCRAM-SHA-256\x00")[:9]...), "08P01"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := p.dial(t)
			conn.Write(c.bytes)
			conn.(*net.TCPConn).CloseWrite()
			got := readAll(conn)
			if c.says != "" && !strings.Contains(got, c.says) {
				t.Errorf("heard %q; want %s", got, c.says)
			}
			if c.says == "" && strings.Contains(got, "FATAL") {
				t.Errorf("heard %q", got)
			}
		})
	}
	p.ana(t)
}

// Who says nothing, or half of it, is not waited for.
func TestSilentStartup(t *testing.T) {
	t.Parallel()
	p := startTestServer(t, func(o *Options) { o.StartupDeadline = 100 * time.Millisecond })
	start := startupPacket(version3, "user\x00ana\x00\x00")
	for _, b := range [][]byte{nil, {0, 0}, start[:12], start,
		append(startupPacket(version3, "user\x00ana\x00\x00"), 'p', 0)} {
		conn := p.dial(t)
		conn.Write(b)
		readAll(conn) // ends
	}
}

// What no client sends after login ends the session or is an error, and the server stays.
func TestBadMessages(t *testing.T) {
	p := startTestServer(t, func(o *Options) { o.MessageSize = 10_000 })
	bind := func(lengths ...int32) string {
		b := "\x00\x00\x00\x00" + string([]byte{0, byte(len(lengths))})
		for _, n := range lengths {
			b += string(binary.BigEndian.AppendUint32(nil, uint32(n)))
		}
		return b + "\x00\x00"
	}
	parsed := packet('P', "\x00SELECT count(*) FROM patients WHERE age > $1\x00\x00\x00")
	for name, c := range map[string]struct {
		bytes []byte
		says  string
		ends  bool
	}{
		"unknown type":        {packet('!', "x"), "08P01", true},
		"length of 3":         {[]byte{'Q', 0, 0, 0, 3}, "08P01", true},
		"negative length":     {[]byte{'Q', 0xff, 0xff, 0xff, 0xff}, "08P01", true},
		"too long":            {packet('Q', strings.Repeat("x", 10_001)), "08P01", true},
		"query without end":   {packet('Q', "SELECT 1"), "08P01", true},
		"query with zeros":    {packet('Q', "SELECT\x001\x00"), "08P01", true},
		"bind of -2":          {append(parsed, packet('B', bind(-2))...), "08P01", true},
		"bind beyond the end": {append(parsed, packet('B', bind(1000))...), "08P01", true},
		"bind of nothing":     {append(parsed, packet('B', bind())...), "08P01", false},
		"bind of two":         {append(parsed, packet('B', bind(-1, -1))...), "08P01", false},
		"bind without parse":  {packet('B', "\x00x\x00\x00\x00\x00\x00\x00\x00"), "26000", false},
		"unknown portal":      {packet('E', "x\x00\x00\x00\x00\x00"), "34000", false},
		"describe unknown":    {packet('D', "Px\x00"), "34000", false},
		"describe nothing":    {packet('D', "Xx\x00"), "08P01", false},
		"close nothing":       {packet('C', "Xx\x00"), "08P01", false},
		"bad text":            {packet('Q', "SELECT '\xff'\x00"), "22021", false},
		"bad text in parse":   {packet('P', "\x00SELECT '\xff'\x00\x00\x00"), "22021", false},
		"parse without end":   {packet('P', "\x00SELECT 1"), "08P01", true},
		"two statements":      {packet('P', "\x00SHOW dp.epsilon; SHOW dp.delta\x00\x00\x00"), "42601", false},
		"function call":       {packet('F', "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"), "0A000", false},
		"password again":      {packet('p', "secret\x00"), "08P01", true},
		"copy data":           {packet('d', "x"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			// Where a connection is closed while bytes are on their way, TCP may take back what was
			// sent before: then nothing at all is heard, and it is tried again.
			for try := 0; try < 3 && got == ""; try++ {
				conn, _ := p.hijack(t)
				conn.Write(c.bytes)
				if !c.ends {
					conn.Write(packet('S', ""))
					conn.Write(packet('Q', "SHOW dp.confidence\x00"))
					conn.Write(packet('X', ""))
				}
				got = readAll(conn)
			}
			if !strings.Contains(got, c.says) {
				t.Errorf("heard %q; want %s", got, c.says)
			}
			if goesOn := strings.Contains(got, "0.95"); goesOn == c.ends {
				t.Errorf("goes on: %v; heard %q", goesOn, got)
			}
		})
	}
	p.ana(t)
}

// Silence, and half a message and then silence: the connection is given back.
func TestSilence(t *testing.T) {
	t.Parallel()
	p := startTestServer(t, func(o *Options) { o.IdleDeadline = 200 * time.Millisecond })
	conn, _ := p.hijack(t)
	if got := readAll(conn); !strings.Contains(got, "57P01") {
		t.Errorf("idle: heard %q", got)
	}
	p = startTestServer(t, nil, func(s *Server) { s.messageTimeout = 200 * time.Millisecond }) // idle for an hour would be fine
	for want, half := range map[string][]byte{"57P01": packet('Q', countQuery+"\x00")[:3], "08P01": packet('Q', countQuery+"\x00")[:12]} {
		conn, _ := p.hijack(t)
		conn.Write(half)
		if got := readAll(conn); !strings.Contains(got, want) {
			t.Errorf("half a message: heard %q; want %s", got, want)
		}
	}
}

// A portal is suspended, and goes on; it ends with the transaction.
func TestRowLimits(t *testing.T) {
	p := startTestServer(t, nil)
	_, f := p.hijack(t)
	var said []string
	heard := func(until byte) string {
		t.Helper()
		said = nil
		for {
			m, err := f.Receive()
			must(t, err)
			switch m := m.(type) {
			case *pgproto3.DataRow:
				said = append(said, "row")
			case *pgproto3.CommandComplete:
				said = append(said, string(m.CommandTag))
			case *pgproto3.PortalSuspended:
				said = append(said, "suspended")
			case *pgproto3.ErrorResponse:
				said = append(said, m.Code)
			case *pgproto3.ReadyForQuery:
				said = append(said, string(m.TxStatus))
				return strings.Join(said, " ")
			}
		}
	}
	send := func(all ...pgproto3.FrontendMessage) string {
		for _, m := range all {
			f.Send(m)
		}
		f.Send(&pgproto3.Sync{})
		must(t, f.Flush())
		return heard('Z')
	}
	check := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("heard %q; want %q", got, want)
		}
	}
	parse := &pgproto3.Parse{Name: "s", Query: "SELECT zip, count(*) FROM patients GROUP BY zip"}
	check(send(&pgproto3.Parse{Query: "BEGIN"}, &pgproto3.Bind{}, &pgproto3.Execute{}), "BEGIN T")
	check(send(parse, &pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 2}),
		"row row suspended T")
	check(send(&pgproto3.Execute{Portal: "p", MaxRows: 2}), "row row suspended T")
	check(send(&pgproto3.Execute{Portal: "p", MaxRows: 2}), "row SELECT 1 T")
	check(send(&pgproto3.Execute{Portal: "p", MaxRows: 2}), "SELECT 0 T")
	check(send(&pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "p"}), "42P03 E")
	check(send(&pgproto3.Parse{Query: "ROLLBACK"}, &pgproto3.Bind{}, &pgproto3.Execute{}), "ROLLBACK I")
	check(send(&pgproto3.Execute{Portal: "p"}), "34000 I")
	check(send(parse), "42P05 I")
	check(send(&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{MaxRows: 5}), "row row row row row SELECT 5 I")
	check(send(&pgproto3.Execute{}), "34000 I") // it ended with Sync
	check(send(&pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Bind{PreparedStatement: "s"}), "26000 I")
	check(send(&pgproto3.Parse{Query: " ; "}, &pgproto3.Bind{}, &pgproto3.Execute{}), "I")
	// After an error everything is passed over up to Sync.
	check(send(&pgproto3.Parse{Query: "nonsense"}, parse, &pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Execute{}), "42601 I")
	check(send(&pgproto3.Bind{PreparedStatement: "s"}), "26000 I")
	// There is an end to what a session can keep.
	last := ""
	for i := range maxPreparedStatements + 1 {
		last = send(&pgproto3.Parse{Name: string(rune('a'+i%26)) + strings.Repeat("x", i/26), Query: "SHOW dp.epsilon"})
	}
	check(last, "53200 I")
	check(send(&pgproto3.Parse{Query: "DEALLOCATE ALL"}, &pgproto3.Bind{}, &pgproto3.Execute{}), "53200 I")
	f.Send(&pgproto3.Query{String: "DEALLOCATE ALL"})
	f.Flush()
	check(heard('Z'), "DEALLOCATE ALL I")
	check(send(parse), "I")
}

func newCertificate(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	must(t, err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestTLS(t *testing.T) {
	p := startTestServer(t, func(o *Options) { o.TLS, o.StartupDeadline = newCertificate(t), 2*time.Second })
	c := p.config(t, "ana", "hospital")
	if _, err := pgx.ConnectConfig(background, c); sqlstate(err) != invalidAuthorization {
		t.Errorf("in without TLS: %v", err)
	}
	c.TLSConfig = &tls.Config{InsecureSkipVerify: true}
	conn := p.connect(t, c)
	if _, err := conn.Exec(background, "SELECT count(*) FROM patients WHERE age > $1", 3); err != nil {
		t.Error(err)
	}
	c.ChannelBinding = "require"
	p.connect(t, c)
	c.ChannelBinding = "disable"
	p.connect(t, c)
	for name, b := range map[string][]byte{
		"garbage":  append(startupPacket(sslCode, ""), "this is no TLS"...),
		"injected": append(startupPacket(sslCode, ""), startupPacket(version3, "user\x00ana\x00\x00")...),
	} {
		raw := p.dial(t)
		raw.Write(b)
		if got := readAll(raw); !strings.Contains(got, "08P01") {
			t.Errorf("%s: heard %q", name, got)
		}
	}
	raw := p.dial(t)
	raw.Write(startupPacket(sslCode, ""))
	if b := make([]byte, 1); true {
		if _, err := io.ReadFull(raw, b); err != nil || b[0] != 'S' {
			t.Fatal(b, err)
		}
	}
	raw.Write([]byte("this is no TLS, but something that is long enough to look like a record"))
	if got := readAll(raw); strings.Contains(got, "FATAL") {
		t.Errorf("heard %q", got)
	}
	p.connect(t, c)
}

// Connections that never become sessions take less than 64 KiB each.
func TestMemoryBeforeLogin(t *testing.T) {
	start := startupPacket(version3, "user\x00ana\x00database\x00hospital\x00application_name\x00"+strings.Repeat("x", 7000)+"\x00\x00")
	// A handshake that announces 64 KiB, in records of 16, and does not end.
	hello := append([]byte{22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff}, make([]byte, 0x4000-4)...)
	hello = append(append(hello, 22, 3, 1, 0x40, 0), make([]byte, 9000)...)
	for name, c := range map[string]struct {
		tls  *tls.Config
		send func(net.Conn) error
	}{
		"half a startup": {nil, sendBytes(start[:4000])},
		"half a login":   {nil, sendBytes(append(bytes.Clone(start), packet('p', strings.Repeat("x", 8000))[:5000]...))},
		"half a handshake": {newCertificate(t), func(c net.Conn) error {
			return errors.Join(sendBytes(startupPacket(sslCode, ""))(c), errorOf(io.ReadFull(c, make([]byte, 1))), sendBytes(hello)(c))
		}},
		"a handshake and half a startup": {newCertificate(t), func(c net.Conn) error {
			err := errors.Join(sendBytes(startupPacket(sslCode, ""))(c), errorOf(io.ReadFull(c, make([]byte, 1))))
			return errors.Join(err, sendBytes(start[:4000])(tls.Client(c, &tls.Config{InsecureSkipVerify: true})))
		}},
	} {
		p := startTestServer(t, func(o *Options) { o.StartupDeadline, o.PerAddress, o.TLS = time.Minute, 1000, c.tls })
		const n = 200
		before := usedMemory()
		var all []net.Conn
		for range n {
			conn := p.dial(t)
			must(t, c.send(conn))
			all = append(all, conn)
		}
		for range 200 {
			open := p.Connections()
			if open == n || open == 0 && c.tls != nil { // each was heard of before more was sent
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // for what is on its way
		each := (int64(usedMemory()) - int64(before)) / n
		t.Logf("%s: %d bytes a connection", name, each)
		if each > 64<<10 {
			t.Errorf("%s: %d bytes a connection", name, each)
		}
		for _, c := range all {
			c.Close()
		}
		for range 500 {
			if p.Connections() == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func sendBytes(b []byte) func(net.Conn) error {
	return func(c net.Conn) error { return errorOf(c.Write(b)) }
}

func errorOf[T any](_ T, err error) error { return err }

// usedMemory is what the heap and the stacks take. The clients of the test count too, which is on
// the safe side.
func usedMemory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

func TestCaps(t *testing.T) {
	p := startTestServer(t, func(o *Options) { o.PerUser, o.PerAddress, o.Connections = 2, 4, 1000 })
	p.ana(t)
	p.ana(t)
	if _, err := pgx.ConnectConfig(background, p.config(t, "ana", "hospital")); sqlstate(err) != tooManyConnections {
		t.Errorf("a third ana: %v", err)
	}
	if n := p.UsersTurnedAway(); n != 1 {
		t.Errorf("%d were counted", n)
	}
	p.connect(t, p.config(t, "ben", "hospital"))
	last := p.connect(t, p.config(t, "olga", "hospital"))
	if _, err := pgx.ConnectConfig(background, p.config(t, "ben", "hospital")); sqlstate(err) != tooManyConnections {
		t.Errorf("a fifth connection: %v", err)
	}
	last.Close(background)
	var err error
	for range 100 {
		var c *pgx.Conn
		if c, err = pgx.ConnectConfig(background, p.config(t, "ben", "hospital")); err == nil {
			c.Close(background)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("after one has gone: %v", err)
	}
}
