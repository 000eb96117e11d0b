package pgwire

import (
	"fmt"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

// heapInUse is what heap and stacks take; the clients of the test count too, which is on the safe
// side.
func heapInUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

// wideQuery is a SELECT of so many columns.
func wideQuery(columns int) string {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "1 AS c%s%d", strings.Repeat("x", 40), i)
	}
	return b.String()
}

// waitUntil waits for something that takes a while.
func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 2000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error(what)
}

// Replies that nobody reads do not pile up, whether a Sync comes or not, and who does not read is
// cut off.
func TestRepliesWithoutSync(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more memory")
	}
	p := startTestServer(t, nil, func(s *Server) { s.writeTimeout = 1200 * time.Millisecond })
	conn, f := p.hijack(t)
	f.Send(&pgproto3.Parse{Name: "s", Query: wideQuery(600)})
	f.Send(&pgproto3.Describe{ObjectType: 'S', Name: "s"})
	f.Send(&pgproto3.Sync{})
	must(t, f.Flush())
	for {
		m, err := f.Receive()
		must(t, err)
		if _, ready := m.(*pgproto3.ReadyForQuery); ready {
			break
		}
	}
	before := heapInUse()
	var b []byte
	for range 4000 { // 36 KB, with replies of 160 MB
		b, _ = (&pgproto3.Describe{ObjectType: 'S', Name: "s"}).Encode(b)
	}
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	most := 0
	for begin := time.Now(); time.Since(begin) < 800*time.Millisecond; time.Sleep(50 * time.Millisecond) {
		most = max(most, heapInUse()-before)
	}
	t.Logf("%d bytes sent, %d held", len(b), most)
	if most > 16<<20 { // beside what the server itself does meanwhile
		t.Errorf("%d bytes are held for replies that nobody reads", most)
	}
	waitUntil(t, "it is still there", func() bool { return p.Connections() == 0 })
	if n := p.options.Held.Held(); n != 0 {
		t.Errorf("%d bytes are held for nobody", n)
	}
}

// A client that sends thousands of messages before its first Sync, and reads, gets all replies.
func TestBatchWithoutSync(t *testing.T) {
	p := startTestServer(t, nil)
	const n = 5000
	conn, f := p.hijack(t)
	conn.SetDeadline(time.Now().Add(2 * time.Minute))
	var b []byte
	for range n {
		b, _ = (&pgproto3.Parse{Query: "SELECT $1::text, 2"}).Encode(b)
		b, _ = (&pgproto3.Bind{Parameters: [][]byte{[]byte("a value")}}).Encode(b)
		b, _ = (&pgproto3.Describe{ObjectType: 'P'}).Encode(b)
	}
	b, _ = (&pgproto3.Sync{}).Encode(b)
	sent := make(chan error, 1)
	go func() {
		_, err := conn.Write(b)
		sent <- err
	}()
	described := 0
	for done := false; !done; {
		m, err := f.Receive()
		if err != nil {
			t.Fatalf("after %d: %v", described, err)
		}
		switch m := m.(type) {
		case *pgproto3.RowDescription:
			described++
		case *pgproto3.ErrorResponse:
			t.Fatal(m.Message)
		case *pgproto3.ReadyForQuery:
			done = true
		}
	}
	if err := <-sent; err != nil || described != n {
		t.Errorf("%d of %d: %v", described, n, err)
	}
	// One that reads nothing before it has sent a batch of the size that JDBC makes.
	batch := &pgx.Batch{}
	for range 500 {
		batch.Queue("SELECT 1, 'a text'")
	}
	if err := p.ana(t).SendBatch(background, batch).Close(); err != nil {
		t.Error(err)
	}
}

// sendUntilRefused sends messages, each of them with a Sync, and says how many worked and what the
// last said.
func sendUntilRefused(t *testing.T, f *pgproto3.Frontend, n int,
	messages func(i int) []pgproto3.FrontendMessage) (worked int, failed string) {
	t.Helper()
	for i := range n {
		for _, m := range messages(i) {
			f.Send(m)
		}
		f.Send(&pgproto3.Sync{})
		must(t, f.Flush())
		for done := false; !done; {
			m, err := f.Receive()
			must(t, err)
			switch m := m.(type) {
			case *pgproto3.ErrorResponse:
				failed = m.Code
			case *pgproto3.ReadyForQuery:
				done = true
			}
		}
		if failed != "" {
			return i, failed
		}
	}
	return n, ""
}

// Whatever a session keeps it keeps within its limit, as the heap sees it.
func TestKept(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more memory")
	}
	type messages = []pgproto3.FrontendMessage
	text := wideQuery(600)
	run := func(sql string) messages {
		return messages{&pgproto3.Parse{Query: sql}, &pgproto3.Bind{}, &pgproto3.Execute{}}
	}
	long := "SELECT 1 -- " + strings.Repeat("x", 200_000)
	list := "SET search_path = a" + strings.Repeat(",a", 2000)
	array := "{1" + strings.Repeat(",1", 1900) + "}"
	const some = 3 << 20 // for what takes long to fill maxKeptBytes
	kinds := map[string]struct {
		begin string
		most  int
		do    func(i int) messages
	}{
		"descriptions": {"", some, func(i int) messages {
			return messages{&pgproto3.Parse{Name: fmt.Sprint("s", i), Query: text},
				&pgproto3.Describe{ObjectType: 'S', Name: fmt.Sprint("s", i)}}
		}},
		"descriptions of what is inside": {"", some, func(i int) messages {
			return messages{&pgproto3.Parse{Name: fmt.Sprint("s", i), Query: "COPY (" + text + ") TO STDOUT"},
				&pgproto3.Describe{ObjectType: 'S', Name: fmt.Sprint("s", i)}}
		}},
		"prepared": {"", some, func(i int) messages { return run(fmt.Sprintf("PREPARE s%d AS %s", i, text)) }},
		"cursors":  {"BEGIN", some, func(i int) messages { return run(fmt.Sprintf("DECLARE c%d CURSOR FOR %s", i, text)) }},
		"statements that portals keep": {"BEGIN", maxKeptBytes, func(i int) messages {
			return messages{&pgproto3.Parse{Query: long}, &pgproto3.Bind{DestinationPortal: fmt.Sprint("p", i)}}
		}},
		"values": {"BEGIN", maxKeptBytes, func(i int) messages {
			return messages{&pgproto3.Parse{Query: "SELECT 1 WHERE 1 = ANY($1) OR 1 = ANY($2)", ParameterOIDs: []uint32{1007, 1007}},
				&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", i), Parameters: [][]byte{[]byte(array), []byte(array)}}}
		}},
		"trees": {"", maxKeptBytes, func(i int) messages { return messages{&pgproto3.Parse{Name: fmt.Sprint("s", i), Query: list}} }},
		"views": {"", maxKeptBytes, func(i int) messages {
			return append(run(fmt.Sprintf("CREATE TEMP VIEW v%d AS %s", i, text)), run("SELECT count(*) FROM pg_attribute")...)
		}},
	}
	for _, name := range daily.Sample(t, slices.Sorted(maps.Keys(kinds)), len(kinds)/2) {
		c := kinds[name]
		t.Run(name, func(t *testing.T) {
			p := startTestServer(t, nil, func(s *Server) { s.maxKept = c.most })
			_, f := p.hijack(t)
			if c.begin != "" {
				f.Send(&pgproto3.Parse{Query: c.begin})
				f.Send(&pgproto3.Bind{})
				f.Send(&pgproto3.Execute{})
			}
			sendUntilRefused(t, f, 1, func(int) messages { return nil })
			before := heapInUse()
			n, failed := sendUntilRefused(t, f, 2*maxPreparedStatements, c.do)
			held := heapInUse() - before
			t.Logf("%d worked, then %s; %d bytes are counted, %d in use", n, failed, p.options.Held.Held(), held)
			if failed != outOfMemory || p.options.Held.Held() > c.most || held > c.most+c.most/2 {
				t.Errorf("%d worked, then %q; %d bytes are counted, %d in use", n, failed, p.options.Held.Held(), held)
			}
			f.Send(&pgproto3.Query{String: "ROLLBACK; DISCARD ALL"})
			sendUntilRefused(t, f, 1, func(int) messages { return nil })
			if n := p.options.Held.Held(); n != 0 {
				t.Errorf("%d bytes are counted when nothing is kept", n)
			}
		})
	}
}

// Rows that are on their way to one user's sessions, and are not read, are within that user's
// limit. Who comes then is told, with when to try again, and others are served.
func TestUnreadRows(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more memory")
	}
	for name, ask := range map[string]func(f *pgproto3.Frontend){
		"simple": func(f *pgproto3.Frontend) { f.Send(&pgproto3.Query{String: largeQuery}) },
		"extended": func(f *pgproto3.Frontend) {
			f.Send(&pgproto3.Parse{Query: largeQuery})
			f.Send(&pgproto3.Bind{})
			f.Send(&pgproto3.Execute{})
			f.Send(&pgproto3.Sync{})
		},
		"copy": func(f *pgproto3.Frontend) { f.Send(&pgproto3.Query{String: "COPY (" + largeQuery + ") TO STDOUT"}) },
	} {
		t.Run(name, func(t *testing.T) {
			p := startTestServer(t, nil, func(s *Server) { s.writeTimeout = 10 * time.Minute })
			const n = 8 // of which four have room
			var conns []net.Conn
			var clients []*pgproto3.Frontend
			for range n {
				conn, f := p.hijack(t)
				conns, clients = append(conns, conn), append(clients, f)
			}
			before := heapInUse()
			for _, f := range clients {
				ask(f)
				must(t, f.Flush())
			}
			waitUntil(t, "answers do not come", func() bool { return p.options.Held.Held() > 40<<20 })
			held := 0
			for i := range 50 { // answers for which there is no room are still being made
				time.Sleep(200 * time.Millisecond)
				if held = heapInUse() - before; i > 0 && held <= 80<<20 {
					break
				}
			}
			t.Logf("%d bytes are counted, %d in use", p.options.Held.Held(), held)
			if p.options.Held.Held() > 64<<20 || held > 80<<20 {
				t.Errorf("%d bytes are counted, %d in use", p.options.Held.Held(), held)
			}
			ben := p.connect(t, p.config(t, "ben", "hospital"))
			if _, err := ben.Exec(background, largeQuery); err != nil {
				t.Errorf("somebody else: %v", err)
			}
			whole, told := 0, 0
			for i, f := range clients {
				conns[i].SetDeadline(time.Now().Add(10 * time.Minute))
				for done := false; !done; {
					m, err := f.Receive()
					must(t, err)
					switch m := m.(type) {
					case *pgproto3.CommandComplete:
						whole++
					case *pgproto3.ErrorResponse:
						if m.Code != outOfMemory || !strings.Contains(m.Hint, "30 seconds") {
							t.Errorf("%+v", m)
						}
						told++
					case *pgproto3.ReadyForQuery:
						done = true
					}
				}
			}
			if whole < 3 || told == 0 || whole+told != n {
				t.Errorf("%d read all of it, %d were told", whole, told)
			}
			if n := p.options.Held.Held(); n > 1<<20 { // statements without a name are kept
				t.Errorf("%d bytes are held for nobody", n)
			}
		})
	}
}

const largeQuery = "SELECT repeat('x', 1000000) FROM generate_series(1, 15)"

// A client that is slow and goes on is served to the end.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	p := startTestServer(t, nil, func(s *Server) { s.writeTimeout = time.Second })
	conn, f := p.hijack(t)
	conn.SetDeadline(time.Now().Add(time.Minute))
	f.Send(&pgproto3.Query{String: largeQuery})
	must(t, f.Flush())
	read := 0
	b := make([]byte, 512<<10)
	for read < 15_000_000 { // some three times as long as a client may take nothing
		n, err := conn.Read(b)
		if err != nil && err != io.EOF {
			t.Fatalf("after %d bytes: %v", read, err)
		}
		read += n
		time.Sleep(time.Duration(n) * 3 * time.Second / 15_000_000)
	}
}

// A message that is large counts from when its length is there.
func TestLargeMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector things take more memory")
	}
	p := startTestServer(t, nil)
	var all []net.Conn
	for range 90 {
		conn, _ := p.hijack(t)
		all = append(all, conn)
	}
	before := heapInUse()
	for _, conn := range all {
		if _, err := conn.Write([]byte{'Q', 0, 15, 0, 0, 'x'}); err != nil {
			t.Fatal(err)
		}
	}
	waitUntil(t, "nobody is refused", func() bool { return p.Connections() < len(all) })
	var text []byte
	for _, conn := range all {
		conn.SetDeadline(time.Now().Add(50 * time.Millisecond))
		if text, _ = io.ReadAll(conn); len(text) > 0 {
			break
		}
	}
	if !strings.Contains(string(text), outOfMemory) || !strings.Contains(string(text), "30 seconds") {
		t.Errorf("%q", text)
	}
	if n, held := p.options.Held.Held(), heapInUse()-before; n > 64<<20 || held > 80<<20 {
		t.Errorf("%d bytes are counted, %d in use", n, held)
	}
}

// What suspended portals hold is counted in bytes, in a session and over all sessions of a user,
// and is given back with them.
func TestHeld(t *testing.T) {
	p := startTestServer(t, nil)
	var codes []string
	suspend := func() int {
		raw, err := p.ana(t).PgConn().Hijack()
		must(t, err)
		t.Cleanup(func() { raw.Conn.Close() })
		raw.Frontend.Send(&pgproto3.Query{String: "BEGIN"})
		n := 0
		for i := range 4 {
			raw.Frontend.Send(&pgproto3.Parse{Query: "SELECT repeat('x', 1000000) FROM generate_series(1, 15)"})
			raw.Frontend.Send(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", i)})
			raw.Frontend.Send(&pgproto3.Execute{Portal: fmt.Sprint("p", i), MaxRows: 1})
			raw.Frontend.Send(&pgproto3.Sync{})
		}
		must(t, raw.Frontend.Flush())
		for ready := 0; ready < 5; {
			m, err := raw.Frontend.Receive()
			must(t, err)
			switch m := m.(type) {
			case *pgproto3.ReadyForQuery:
				ready++
			case *pgproto3.PortalSuspended:
				n++
			case *pgproto3.ErrorResponse:
				codes = append(codes, m.Code)
			}
		}
		return n
	}
	if n := suspend(); n != 2 || codes[0] != outOfMemory {
		t.Errorf("a session suspends %d portals of 15 MB: %v", n, codes)
	}
	if n := suspend() + suspend(); n != 2 {
		t.Errorf("two more sessions suspend %d", n)
	}
}

// Of statements that are no SELECT the tree is kept, so they are short.
func TestLongCommand(t *testing.T) {
	p := startTestServer(t, nil)
	c := p.ana(t)
	_, err := c.Exec(background, "SET search_path = "+strings.Repeat("a, ", 2000)+"a")
	if sqlstate(err) != tooComplex {
		t.Error(err)
	}
	if _, err := c.Exec(background, "SET search_path = a, b"); err != nil {
		t.Error(err)
	}
}

// A portal keeps its statement when that is replaced, and then the text of it alone: trees are
// twenty times as large, and nobody counts them.
func TestPortalsKeepNoTrees(t *testing.T) {
	p := startTestServer(t, nil)
	raw, err := p.ana(t).PgConn().Hijack()
	must(t, err)
	defer raw.Conn.Close()
	const portals = 40
	long := "SELECT count(*) FROM patients WHERE age" + strings.Repeat("+1", 1900) + " > 0"
	bind := func(names string, n int) {
		t.Helper()
		raw.Frontend.Send(&pgproto3.Query{String: "BEGIN"})
		for i := range n {
			raw.Frontend.Send(&pgproto3.Parse{Query: long})
			raw.Frontend.Send(&pgproto3.Bind{DestinationPortal: fmt.Sprint(names, i)})
		}
		raw.Frontend.Send(&pgproto3.Sync{})
		must(t, raw.Frontend.Flush())
		for bound, ready := 0, 0; ready < 2; {
			m, err := raw.Frontend.Receive()
			must(t, err)
			switch m := m.(type) {
			case *pgproto3.BindComplete:
				bound++
			case *pgproto3.ErrorResponse:
				t.Fatal(m.Message)
			case *pgproto3.ReadyForQuery:
				if ready++; ready == 2 && bound != n {
					t.Errorf("%d portals", bound)
				}
			}
		}
	}
	live := func() int {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	bind("first", 2) // after which the session and the server have what they need once
	before, kept := live(), 0
	bind("p", portals)
	for range 50 { // what is still at work on a busy machine goes away
		if kept = (live() - before) / portals; kept <= 32<<10 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("each of %d portals keeps %d KB", portals, kept>>10)
}
