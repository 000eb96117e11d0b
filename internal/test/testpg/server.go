// Package testpg gives a test a PostgreSQL server of its own: a new cluster in a temporary folder,
// on a Unix socket and, where a test asks for it, on a port with TLS, of the PostgreSQL that is
// installed. It works for root, as whom PostgreSQL refuses to run, and for anybody else.
//
// A test is skipped where no PostgreSQL is installed, unless the environment has
// DISCREET_NEED_POSTGRES: then it fails.
package testpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a PostgreSQL server that ends with its test.
type Server struct {
	bin, dir string
	settings []string
	plain    []string // those without what Listen has added
	port     int      // or 0
	process  *exec.Cmd
	life     io.Closer // the server ends when this is closed, by us or by our end
	log      bytes.Buffer
}

// Start returns a server that accepts connections, with settings such as "fsync=off".
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	bin, err := findPrograms()
	if err != nil {
		if os.Getenv("DISCREET_NEED_POSTGRES") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	// Not the test's own folder: the server may be another user, and the name of a socket has at
	// most about 100 bytes.
	dir, err := os.MkdirTemp(shortTempFolder(), "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{bin: bin, dir: dir, settings: settings}
	if err := giveToServerUser(dir); err != nil {
		t.Fatal(err)
	}
	initdb := s.command(filepath.Join(bin, "initdb"), "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	t.Cleanup(func() { s.Stop(t) })
	s.Restart(t)
	return s
}

// URL returns the address of the database postgres, for a user who may do everything.
func (s *Server) URL() string { return s.address("postgres", "postgres") }

// socketParameters is its socket. The port is a part of the socket's name.
func (s *Server) socketParameters() url.Values {
	v := url.Values{"host": {s.dir}}
	if s.port != 0 {
		v.Set("port", s.Port())
	}
	return v
}

// Restart starts a server that was stopped, on the same data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	// The shell waits for the end of its input, which comes with Stop, and also when this process
	// is killed.
	script := `"$@" </dev/null & cat >/dev/null; kill -QUIT $!; wait $!`
	if _, ours := t.(*sharedTest); ours { // nobody else clears up
		script += `; rm -rf "` + s.dir + `"`
	}
	args := []string{"-c", script, "sh", filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir, "-c", "listen_addresses="}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	s.process = s.command("/bin/sh", args...)
	s.log.Reset()
	s.process.Stdout, s.process.Stderr = &s.log, &s.log
	life, err := s.process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	s.life = life
	ready := func() bool {
		probe := s.command(filepath.Join(s.bin, "pg_isready"), "-q", "-h", s.dir, "-p", s.Port())
		return probe.Run() == nil
	}
	for deadline := time.Now().Add(time.Minute); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Stop(t)
			t.Fatalf("PostgreSQL does not start:\n%s", s.log.String())
		}
	}
}

// Stop ends the server at once, as a crash would: what it confirmed is in its log. To stop it twice
// does nothing.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if s.life == nil {
		return
	}
	s.life.Close()
	s.life = nil
	// It fails, as it was told to quit.
	_ = s.process.Wait()
	if c, err := net.Dial("unix", filepath.Join(s.dir, ".s.PGSQL."+s.Port())); err == nil {
		c.Close()
		t.Error("PostgreSQL did not stop")
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = s.dir
	// Nothing of ours, where PGPORT and others might be set.
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=" + s.dir}
	runAsServerUser(c)
	return c
}

// findPrograms returns the folder of the programs of the newest PostgreSQL.
func findPrograms() (string, error) {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"} {
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found)
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		complete := true
		for _, program := range []string{"initdb", "postgres", "pg_isready"} {
			_, err := os.Stat(filepath.Join(dir, program))
			complete = complete && err == nil
		}
		if complete {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no PostgreSQL server is installed: initdb, postgres and pg_isready are not in PATH nor in /usr/lib/postgresql")
}

// shortTempFolder returns a folder for temporary files with a short name: in memory where there is
// enough of it, so that nobody waits for a disk that no test looks at. A server that is killed
// finds there what it wrote, as it does on a disk.
func shortTempFolder() string {
	if hasSpace("/dev/shm", 2<<30) {
		return "/dev/shm"
	}
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
		return "/tmp"
	}
	return os.TempDir()
}

// Reader is the role that Database returns the address for. It may do what it is granted.
const Reader = "reader"

// Database makes a database of that name, runs statements in it as its administrator, and returns
// its address for Reader.
func (s *Server) Database(t testing.TB, name string, statements ...string) string {
	t.Helper()
	s.Run(t, "postgres", "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE template0")
	if err := s.run("postgres", "CREATE ROLE "+Reader+" LOGIN"); err != nil {
		var there *pgconn.PgError
		if !errors.As(err, &there) || there.Code != "42710" { // it is there already
			t.Fatal(err)
		}
	}
	s.Run(t, name, append([]string{"REVOKE CREATE ON SCHEMA public FROM PUBLIC"}, statements...)...)
	return s.address(Reader, name)
}

// Run runs statements in a database as its administrator, each in a transaction of its own.
func (s *Server) Run(t testing.TB, database string, statements ...string) {
	t.Helper()
	if err := s.run(database, statements...); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) run(database string, statements ...string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.address("postgres", database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, text := range statements {
		if _, err := c.Exec(ctx, text); err != nil {
			return errors.Join(err, errors.New("in "+strings.ToValidUTF8(text[:min(len(text), 300)], "?")))
		}
	}
	return nil
}

func (s *Server) address(user, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database,
		RawQuery: s.socketParameters().Encode()}).String()
}

// Shared returns the one server of a test binary, which ends with the process. It is for tests that
// have a database or a schema of their own, and stop no server.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() {
		defer func() { _ = recover() }() // how starting ends that does not go on
		shared.server = Start(&shared.starting)
	})
	if shared.server == nil {
		if os.Getenv("DISCREET_NEED_POSTGRES") != "" || !shared.starting.skipped {
			t.Fatal(shared.starting.err)
		}
		t.Skip(shared.starting.err)
	}
	return shared.server
}

var shared struct {
	once     sync.Once
	starting sharedTest
	server   *Server
}

// sharedTest is the test that a shared server belongs to: none.
type sharedTest struct {
	testing.TB
	err     error
	skipped bool
}

func (s *sharedTest) Helper()        {}
func (s *sharedTest) Cleanup(func()) {} // the server ends with the end of its input, which is ours
func (s *sharedTest) Fatal(args ...any) {
	s.err = errors.New(fmt.Sprint(args...))
	panic(s.err)
}
func (s *sharedTest) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }
func (s *sharedTest) Error(args ...any)                 { s.Fatal(args...) }
func (s *sharedTest) Skip(args ...any) {
	s.skipped = true
	s.Fatal(args...)
}

// Standby returns a server that follows this one, and becomes one of its own by Promote. Whether
// this one waits for it is a setting, synchronous_standby_names.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp(shortTempFolder(), "pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	// Otherwise a standby whose server is gone may sleep for 5 seconds before it is promoted.
	f := &Server{bin: s.bin, dir: dir, settings: append(slices.Clone(s.settings), "wal_retrieve_retry_interval=100ms")}
	if err := giveToServerUser(dir); err != nil {
		t.Fatal(err)
	}
	f.Tool(t, "pg_basebackup", "-h", s.dir, "-U", "postgres", "-D", f.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	t.Cleanup(func() { f.Stop(t) })
	f.Restart(t)
	return f
}

// Promote makes a standby a server that can be written.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.Tool(t, "pg_ctl", "promote", "-w", "-D", s.data())
}

// Host is where its socket is.
func (s *Server) Host() string { return s.dir }

// Tool runs one of PostgreSQL's programs, and returns what it said.
func (s *Server) Tool(t testing.TB, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(s.bin, name)
	if _, err := os.Stat(path); err != nil {
		if path, err = exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	out, err := s.command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}
