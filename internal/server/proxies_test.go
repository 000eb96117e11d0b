package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/discreet-dp/discreet/internal/test/ports"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// The proxies of deploy/proxies, with the very files that docs/proxies.md shows, in front of a
// server. Where a program is missing its test is skipped, unless DISCREET_NEED_TOOLS has its name,
// or all. Programs and modules are those of Debian; see .ci/tools.

// stage is a server that proxies of this machine are trusted by.
type stage struct {
	*Server
	config   Config
	dir      string
	password string
	roots    *x509.CertPool
	front    map[string]int // ports of the proxy, by those that its file has
	change   []string       // what else is changed in its file
}

// the client is at another address of this machine than the proxy.
const clientAddress = "127.0.0.2"

func newStage(t *testing.T, trust string) *stage {
	t.Helper()
	c := world(t, "")
	s := &stage{dir: t.TempDir(), roots: x509.NewCertPool(), front: map[string]int{}}
	c.Certificate, c.Key, c.TrustProxy = filepath.Join(s.dir, "tls.crt"), filepath.Join(s.dir, "tls.key"), trust
	s.roots.AppendCertsFromPEM(issueFor(t, "db.example", s.dir))
	s.password, s.config = userstest.Password("ana"), c
	s.Server = opened(t, c)
	return s
}

// issueFor writes tls.crt, tls.key and tls.pem, which has both, and returns the certificate.
func issueFor(t *testing.T, name, dir string) []byte {
	t.Helper()
	der, pkcs8 := selfSigned(t, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		DNSNames: []string{name}})
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	for file, text := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "tls.pem": slices.Concat(certificate, key)} {
		must(t, os.WriteFile(filepath.Join(dir, file), text, 0o600))
	}
	return certificate
}

// run starts a proxy with its file of deploy/proxies, in which only places are changed. Ports are
// those that it listens on.
func (s *stage) run(t *testing.T, file string, named []string, program string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + program)
	}
	if needed := strings.Split(os.Getenv("DISCREET_NEED_TOOLS"), ","); err != nil {
		if slices.Contains(needed, program) || slices.Contains(needed, "all") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	text, err := os.ReadFile(filepath.Join("../../deploy/proxies", file))
	must(t, err)
	_, wire, _ := net.SplitHostPort(s.WireAddr().String())
	changes := append([]string{"/etc/discreet/", s.dir + "/", "127.0.0.1:5432", s.WireAddr().String(), "port=5432", "port=" + wire,
		"127.0.0.1:8432", s.HTTPAddr().String()}, s.change...)
	for _, port := range named {
		s.front[port] = ports.Free(t)
		changes = append(changes, port, fmt.Sprint(s.front[port]))
	}
	config := filepath.Join(s.dir, file)
	must(t, os.WriteFile(config, []byte(strings.NewReplacer(changes...).Replace(string(text))), 0o644))
	log := filepath.Join(s.dir, "log")
	out, err := os.Create(log)
	must(t, err)
	defer out.Close()
	cmd := exec.Command(path, append(args, config)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, out, out
	cmd.Env = append(os.Environ(), "HOME="+s.dir)
	if program == "pgbouncer" && os.Getuid() == 0 {
		giveAway(t, s.dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		if said, _ := os.ReadFile(log); t.Failed() {
			t.Logf("%s: %s", program, said)
		}
	})
	for _, port := range s.front {
		s.await(t, port)
	}
}

// nobody is Debian's; PgBouncer does not run as root.
const nobody = 65534

func giveAway(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	for _, path := range append(files, dir) {
		must(t, os.Chown(path, nobody, nobody))
	}
}

// await waits for a proxy to listen.
func (s *stage) await(t *testing.T, port int) {
	t.Helper()
	for range 200 {
		if c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nobody listens on %d", port)
}

// towards connects from the address of the client, to a port of this machine.
func towards(port int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer(clientAddress).DialContext(ctx, "tcp", fmt.Sprint("127.0.0.1:", port))
	}
}

// connect connects with pgx, by TLS to the server itself or to whoever ends it.
func (s *stage) connect(t *testing.T, port int, mode pgx.QueryExecMode) *pgx.Conn {
	t.Helper()
	c, err := pgx.ParseConfig("postgres://ana@db.example/hospital?sslmode=require")
	must(t, err)
	c.Password, c.DialFunc, c.DefaultQueryExecMode = s.password, towards(port), mode
	c.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
	c.TLSConfig = &tls.Config{RootCAs: s.roots, ServerName: "db.example"}
	conn, err := pgx.ConnectConfig(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// ask asks a question by PostgreSQL's protocol.
func (s *stage) ask(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for range 3 { // a prepared statement is used again
		var n int64
		must(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM patients WHERE age > $1", 40).Scan(&n))
	}
}

// askHTTP asks one over HTTP, as somebody who would rather be elsewhere, and signs in as a browser.
func (s *stage) askHTTP(t *testing.T, port int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: towards(port), TLSClientConfig: &tls.Config{RootCAs: s.roots}}}
	defer client.CloseIdleConnections()
	origin := fmt.Sprint("https://db.example:", port)
	for path, body := range map[string]string{
		"/v1/query":  `{"dataset": "hospital", "sql": "SELECT count(*) FROM patients"}`,
		"/v1/signin": fmt.Sprintf(`{"name": "ana", "password": %q}`, s.password),
	} {
		r, err := http.NewRequest("POST", origin+path, strings.NewReader(body))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", "6.6.6.6")
		r.Header.Set("Forwarded", "for=6.6.6.6")
		r.Header.Set("Origin", origin)
		if path == "/v1/query" {
			r.SetBasicAuth("ana", s.password)
		}
		a, err := client.Do(r)
		must(t, err)
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.StatusCode, text)
		}
	}
}

// seen are where logins came from, by listener.
func (s *stage) seen(t *testing.T) string {
	t.Helper()
	all, err := s.users.Logins(t.Context(), "ana", 20)
	must(t, err)
	var out []string
	for _, l := range all {
		out = append(out, l.Listener+" "+l.Address+" "+l.Outcome)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

func TestHAProxy(t *testing.T) {
	s := newStage(t, "127.0.0.1")
	s.run(t, "haproxy.cfg", []string{"5433", "443"}, "haproxy", "-db", "-f")
	s.ask(t, s.connect(t, s.front["5433"], pgx.QueryExecModeCacheStatement))
	s.askHTTP(t, s.front["443"])
	if seen := s.seen(t); seen != "http 127.0.0.2 in, page 127.0.0.2 in, wire 127.0.0.2 in" {
		t.Error(seen)
	}
}

func TestNginx(t *testing.T) {
	s := newStage(t, "127.0.0.1")
	s.run(t, "nginx.conf", []string{"5433", "443"}, "nginx", "-g", "daemon off; pid "+s.dir+"/pid; error_log stderr;", "-c")
	s.ask(t, s.connect(t, s.front["5433"], pgx.QueryExecModeCacheStatement))
	s.askHTTP(t, s.front["443"])
	if seen := s.seen(t); seen != "http 127.0.0.2 in, page 127.0.0.2 in, wire 127.0.0.2 in" {
		t.Error(seen)
	}
}

func TestCaddy(t *testing.T) {
	s := newStage(t, "127.0.0.1")
	s.run(t, "Caddyfile", []string{"443"}, "caddy", "run", "--adapter", "caddyfile", "--config")
	s.askHTTP(t, s.front["443"])
	if seen := s.seen(t); seen != "http 127.0.0.2 in, page 127.0.0.2 in" {
		t.Error(seen)
	}
}

// userlist makes PgBouncer's file out of the users.
const userlist = `SELECT '"' || name || '" "' || scram || '"' FROM users WHERE revoked = 0`

// PgBouncer knows passwords, or the keys that the users have of them, and its clients have its
// address. Settings and prepared statements last in session mode, and texts without them do in
// transaction mode.
func TestPgBouncer(t *testing.T) {
	for _, keys := range []bool{true, false} {
		for _, mode := range []string{"session", "transaction"} {
			t.Run(fmt.Sprint(mode, " keys=", keys), func(t *testing.T) {
				s := newStage(t, "") // it does not speak the PROXY protocol
				list := fmt.Sprintf("%q %q\n", "ana", s.password)
				if keys {
					list = s.userlist(t)
				}
				must(t, os.WriteFile(filepath.Join(s.dir, "userlist.txt"), []byte(list), 0o600))
				s.change = []string{"pool_mode = session", "pool_mode = " + mode, "default_pool_size = 20", "default_pool_size = 1"}
				if mode == "transaction" {
					s.change[1] += "\n" + resetAlways
				}
				s.run(t, "pgbouncer.ini", []string{"6432"}, "pgbouncer")
				how := pgx.QueryExecModeCacheStatement
				if mode == "transaction" {
					how = pgx.QueryExecModeExec
				}
				conn := s.connect(t, s.front["6432"], how)
				s.ask(t, conn)
				if mode == "session" {
					var epsilon string
					if _, err := conn.Exec(t.Context(), "SET dp.epsilon = 0.2"); err != nil {
						t.Fatal(err)
					}
					if err := conn.QueryRow(t.Context(), "SHOW dp.epsilon").Scan(&epsilon); err != nil || epsilon != "0.2" {
						t.Errorf("%s, %v", epsilon, err)
					}
				}
				if mode == "transaction" {
					s.askPooled(t, conn)
				}
				if seen := s.seen(t); seen != "wire 127.0.0.1 in" {
					t.Error(seen)
				}
			})
		}
	}
}

// resetAlways keeps settings from the pool's next client.
const resetAlways = "server_reset_query_always = 1"

// askPooled asks through a pool whose clients share a session: no setting of one reaches the other,
// and those in a comment or a transaction reach the question.
func (s *stage) askPooled(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	other := s.connect(t, s.front["6432"], pgx.QueryExecModeExec)
	show := func(conn *pgx.Conn, sql string) (text string) {
		t.Helper()
		must(t, conn.QueryRow(t.Context(), sql).Scan(&text))
		return text
	}
	_, err := conn.Exec(t.Context(), "SET dp.confidence = 0.8")
	must(t, err)
	for _, c := range []*pgx.Conn{other, conn} {
		if got := show(c, "SHOW dp.confidence"); got != "0.95" {
			t.Errorf("the pool's next client has %s", got)
		}
	}
	wide := func(before string) int {
		t.Helper()
		rows, err := conn.Query(t.Context(), before+"SELECT count(*) FROM patients WHERE age > 40")
		must(t, err)
		rows.Close()
		must(t, rows.Err())
		return len(rows.FieldDescriptions())
	}
	if n := wide("/* dp.errors = columns */ "); n != 2 {
		t.Errorf("%d columns, with a comment", n)
	}
	_, err = conn.Exec(t.Context(), "BEGIN; SET LOCAL dp.errors = columns")
	must(t, err)
	if n := wide(""); n != 2 {
		t.Errorf("%d columns, in a transaction", n)
	}
	_, err = conn.Exec(t.Context(), "COMMIT")
	must(t, err)
	if n := wide(""); n != 1 || show(other, "SHOW dp.errors") != "off" {
		t.Errorf("%d columns, after that", n)
	}
}

func (s *stage) userlist(t *testing.T) string {
	t.Helper()
	db, err := sql.Open("sqlite", s.config.Users)
	must(t, err)
	defer db.Close()
	rows, err := db.Query(userlist)
	must(t, err)
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		var line string
		must(t, rows.Scan(&line))
		fmt.Fprintln(&all, line)
	}
	return all.String()
}

// The document shows the files that these tests run.
func TestProxiesDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/proxies.md")
	must(t, err)
	for _, file := range []string{"haproxy.cfg", "nginx.conf", "Caddyfile", "pgbouncer.ini"} {
		text, err := os.ReadFile(filepath.Join("../../deploy/proxies", file))
		must(t, err)
		if !strings.Contains(string(doc), string(text)) {
			t.Errorf("%s is not in the document", file)
		}
	}
	for _, shown := range []string{userlist, resetAlways} {
		if !strings.Contains(string(doc), shown) {
			t.Errorf("%s is not in the document", shown)
		}
	}
}
