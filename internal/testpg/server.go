package testpg

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
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

// shortTempFolder returns a folder for temporary files with a short name.
func shortTempFolder() string {
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
		return "/tmp"
	}
	return os.TempDir()
}
