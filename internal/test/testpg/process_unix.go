//go:build unix

package testpg

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// serverUser returns as whom the server runs where we are root: as postgres, or as nobody.
func serverUser() (uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, lookup := user.Lookup(name)
		if lookup != nil {
			continue
		}
		uid, err = strconv.Atoi(u.Uid)
		if err != nil {
			return 0, 0, err
		}
		gid, err = strconv.Atoi(u.Gid)
		return uid, gid, err
	}
	return 0, 0, errors.New("there is no user postgres and none nobody, as whom PostgreSQL could run")
}

// giveToServerUser makes the server's user the owner of a folder.
func giveToServerUser(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := serverUser()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// runAsServerUser makes a command run as the server's user.
func runAsServerUser(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that Ctrl-C reaches us alone
	if os.Geteuid() != 0 {
		return
	}
	if uid, gid, err := serverUser(); err == nil {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}

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
