//go:build unix

package testpg

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Kill ends every process of the server with SIGKILL, in the middle of whatever it does. The first
// of them is stopped before, so that it begins no others meanwhile.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	first, err := strconv.Atoi(string(line))
	if err == nil {
		err = syscall.Kill(first, syscall.SIGSTOP)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 && f[1] == strconv.Itoa(first) {
			if pid, err := strconv.Atoi(f[0]); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
			}
		}
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.Stop(t) // the shell that waits for it
}
