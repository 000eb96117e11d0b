package testpg

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

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
