package tools

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// recorder is a proxy in front of a PostgreSQL that writes down what clients send.
type recorder struct {
	t        testing.TB
	listener net.Listener
	dial     func() (net.Conn, error)
	names    map[string]string // of OIDs
	steps    string            // the file in which a sender says what it is about

	mu    sync.Mutex
	count int
	lines []line
}

// wire is one connection through the recorder.
type wire struct {
	*recorder
	number     int
	statements map[string]*prepared
	portals    map[string]*statement
	pending    []*statement // what the server has not answered yet; nil is a Sync
	described  []*prepared
}

// prepared is a statement of the extended protocol.
type prepared struct {
	name     string
	sql      string
	types    []uint32
	answered []uint32 // the types that the server found
	asked    bool
	only     *statement // that it was described, which goes without saying once it is executed
}

func record(t testing.TB, dial func() (net.Conn, error), names map[string]string, steps string) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	r := &recorder{t: t, listener: l, dial: dial, names: names, steps: steps}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

func (r *recorder) port() int { return r.listener.Addr().(*net.TCPAddr).Port }

func (r *recorder) step() string {
	text, _ := os.ReadFile(r.steps)
	return strings.TrimSpace(string(text))
}

func (r *recorder) serve(client net.Conn) {
	defer client.Close()
	server, err := r.dial()
	if err != nil {
		r.t.Error(err)
		return
	}
	defer server.Close()
	w := &wire{recorder: r, statements: map[string]*prepared{}, portals: map[string]*statement{}}
	if !w.start(client, server) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pass(server, client, w.answer)
		client.Close()
	}()
	pass(client, server, w.request)
	server.Close()
	<-done
}

// start reads what comes before the first message.
func (w *wire) start(client, server net.Conn) bool {
	for {
		var head [8]byte
		if _, err := io.ReadFull(client, head[:]); err != nil {
			return false
		}
		rest := make([]byte, binary.BigEndian.Uint32(head[:])-8)
		if _, err := io.ReadFull(client, rest); err != nil {
			return false
		}
		switch code := binary.BigEndian.Uint32(head[4:]); code {
		case 80877103, 80877104: // TLS, GSS
			if _, err := client.Write([]byte("N")); err != nil {
				return false
			}
			continue
		case 80877102: // a request to cancel
			_, _ = server.Write(append(head[:], rest...))
			return false
		}
		var m pgproto3.StartupMessage
		if err := m.Decode(append(head[4:], rest...)); err != nil {
			w.t.Error(err)
			return false
		}
		var words []string
		for _, k := range slices.Sorted(maps.Keys(m.Parameters)) {
			if k != "user" && k != "database" {
				words = append(words, fmt.Sprintf("%s=%q", k, m.Parameters[k]))
			}
		}
		if len(words) == 0 {
			words = []string{"plain"}
		}
		w.mu.Lock()
		w.count++
		w.number = w.count
		w.lines = append(w.lines, line{step: w.step(), connection: w.number, startup: strings.Join(words, " ")})
		w.mu.Unlock()
		_, err := server.Write(append(head[:], rest...))
		return err == nil
	}
}

// pass copies messages and shows each before it goes on.
func pass(from io.Reader, to io.Writer, show func(kind byte, body []byte)) {
	for {
		var head [5]byte
		if _, err := io.ReadFull(from, head[:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(from, body); err != nil {
			return
		}
		show(head[0], body)
		if _, err := to.Write(append(head[:], body...)); err != nil {
			return
		}
	}
}

func decode[M interface {
	*T
	Decode([]byte) error
}, T any](w *wire, body []byte) *T {
	var m T
	if err := M(&m).Decode(body); err != nil {
		w.t.Errorf("%T: %v", m, err)
	}
	return &m
}

func (w *wire) request(kind byte, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch kind {
	case 'Q':
		w.say(&statement{way: "simple", sql: decode[*pgproto3.Query](w, body).String})
	case 'P':
		m := decode[*pgproto3.Parse](w, body)
		w.statements[m.Name] = &prepared{name: m.Name, sql: m.Query, types: m.ParameterOIDs}
	case 'D':
		if m := decode[*pgproto3.Describe](w, body); m.ObjectType == 'S' && w.statements[m.Name] != nil {
			w.describe(w.statements[m.Name])
		}
	case 'B':
		w.bind(decode[*pgproto3.Bind](w, body))
	case 'E':
		m := decode[*pgproto3.Execute](w, body)
		if s := w.portals[m.Portal]; s != nil {
			s.rows = m.MaxRows
			if s.portal == "" {
				w.say(s)
			}
			delete(w.portals, m.Portal) // the same portal again only fetches on
		}
	case 'S':
		w.pending = append(w.pending, nil)
	case 'F':
		w.t.Error("a call of a function in the old way is not recorded")
	}
}

// describe writes a statement down that may never be executed.
func (w *wire) describe(p *prepared) {
	w.described = append(w.described, p)
	if p.asked {
		return
	}
	p.asked = true
	p.only = &statement{way: "describe", name: w.named(p.name), sql: w.named(p.sql), outcome: "?"}
	for _, t := range p.types {
		p.only.types = append(p.only.types, typeName(t))
	}
	w.lines = append(w.lines, line{step: w.step(), connection: w.number, statement: p.only})
}

func (w *wire) say(s *statement) {
	s.sql = w.named(s.sql)
	s.outcome = "?"
	w.lines = append(w.lines, line{step: w.step(), connection: w.number, statement: s})
	w.pending = append(w.pending, s)
}

var number = regexp.MustCompile(`\b[0-9]{5,}\b`)

// address is part of a name that is another one each time.
var address = regexp.MustCompile(`(0x|\bc_)[0-9a-f]{6,}|(_)[a-z0-9]{26}\b`)

// named puts @name@ for the OIDs of what is in the database.
func (w *wire) named(text string) string {
	text = address.ReplaceAllString(text, "${1}${2}1")
	return number.ReplaceAllStringFunc(text, func(s string) string {
		if name := w.names[s]; name != "" {
			return "@" + name + "@"
		}
		return s
	})
}

var pgTypes = pgtype.NewMap()

func typeName(oid uint32) string {
	if oid == 0 {
		return "-"
	}
	if t, ok := pgTypes.TypeForOID(oid); ok {
		return t.Name
	}
	return fmt.Sprint(oid)
}

func (w *wire) bind(m *pgproto3.Bind) {
	p := w.statements[m.PreparedStatement]
	if p == nil {
		return // of an error before it
	}
	if p.only != nil {
		p.only.way = ""
	}
	s := &statement{way: "extended", sql: p.sql, results: formats(m.ResultFormatCodes)}
	for i, v := range m.Parameters {
		oid := uint32(0)
		if i < len(p.types) {
			oid = p.types[i]
		}
		s.types = append(s.types, typeName(oid))
		if oid == 0 && p.asked && i < len(p.answered) {
			s.asked, oid = true, p.answered[i]
		}
		binary := len(m.ParameterFormatCodes) == 1 && m.ParameterFormatCodes[0] == 1 ||
			len(m.ParameterFormatCodes) > 1 && m.ParameterFormatCodes[i] == 1
		s.values = append(s.values, w.value(oid, v, binary))
	}
	w.portals[m.DestinationPortal] = s
	s.name, s.portal = w.named(m.PreparedStatement), w.named(m.DestinationPortal)
	if s.portal != "" { // it may be moved in by a statement before it is executed
		w.say(s)
	}
}

func (w *wire) value(oid uint32, v []byte, binary bool) value {
	if v == nil {
		return value{null: true, binary: binary}
	}
	text := string(v)
	if binary {
		var err error
		if text, err = recode(oid, text, pgtype.BinaryFormatCode, pgtype.TextFormatCode); err != nil {
			w.t.Errorf("a value of type %d: %v", oid, err)
		}
	}
	return value{binary: binary, text: w.named(text)}
}

// recode writes a value of a type in another format.
func recode(oid uint32, v string, from, to int16) (string, error) {
	t, ok := pgTypes.TypeForOID(oid)
	if !ok {
		return "", fmt.Errorf("type %d is not known", oid)
	}
	is, err := t.Codec.DecodeValue(pgTypes, oid, from, []byte(v))
	if err != nil {
		return "", err
	}
	out, err := pgTypes.Encode(oid, to, is, nil)
	return string(out), err
}

func formats(codes []int16) string {
	var out strings.Builder
	for _, c := range codes {
		out.WriteString(map[int16]string{0: "t", 1: "b"}[c])
	}
	switch f := out.String(); {
	case strings.Trim(f, "t") == "":
		return "text"
	case strings.Trim(f, "b") == "":
		return "binary"
	default:
		return f
	}
}

func (w *wire) answer(kind byte, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch kind {
	case 't':
		if len(w.described) > 0 {
			w.described[0].answered = decode[*pgproto3.ParameterDescription](w, body).ParameterOIDs
			w.described = w.described[1:]
		}
	case 'C', 'I', 's':
		if len(w.pending) > 0 && w.pending[0] != nil && w.pending[0].way == "extended" {
			w.pending = w.pending[1:]
		}
	case 'E':
		code := decode[*pgproto3.ErrorResponse](w, body).Code
		if len(w.pending) > 0 && w.pending[0] != nil {
			w.pending[0].postgres = code
		}
	case 'Z':
		w.described = nil
		for len(w.pending) > 0 {
			last := w.pending[0]
			w.pending = w.pending[1:]
			if last == nil || last.way == "simple" {
				break
			}
		}
	}
}

func (r *recorder) recording() []line {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.lines), func(l line) bool { return l.statement != nil && l.way == "" })
}
