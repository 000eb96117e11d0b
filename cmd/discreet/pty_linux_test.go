package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// terminal is a pseudo-terminal with a command at its other end.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File // kept open, so that its modes can be looked at afterwards
	cmd    *exec.Cmd
	ended  chan error

	mu   sync.Mutex
	seen []byte
	from int // what was waited for before this is not looked at again
}

func control(t *testing.T, f *os.File, request uintptr, p unsafe.Pointer) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var errno syscall.Errno
	if err := conn.Control(func(fd uintptr) { _, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(p)) }); err != nil ||
		errno != 0 {
		t.Fatal(err, errno)
	}
}

// pty opens a pseudo-terminal of 30 lines of 130 letters.
func pty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	var number, unlock int32
	control(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{30, 130}
	control(t, master, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func modes(t *testing.T, f *os.File) syscall.Termios {
	t.Helper()
	var m syscall.Termios
	control(t, f, syscall.TCGETS, unsafe.Pointer(&m))
	return m
}

// onTerminal starts a command on a terminal.
func onTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	master, slave := pty(t)
	c := exec.Command(os.Args[0], args...)
	c.Env = append(append(os.Environ(), "DISCREET_TEST_MAIN=1", "TERM=xterm"), env...)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	w := &terminal{t: t, master: master, slave: slave, cmd: c, ended: make(chan error, 1)}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go w.watch()
	go func() { w.ended <- c.Wait() }()
	t.Cleanup(func() { c.Process.Kill() })
	return w
}

func (w *terminal) watch() {
	b := make([]byte, 4096)
	for {
		n, err := w.master.Read(b)
		w.mu.Lock()
		w.seen = append(w.seen, b[:n]...)
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]|\r")

// screen returns what was shown and not waited for yet, without what moves the cursor.
func (w *terminal) screen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(escapes.ReplaceAll(w.seen[w.from:], nil))
}

// sees waits until the texts are shown, in whatever order.
func (w *terminal) sees(texts ...string) string {
	w.t.Helper()
	for range 12000 {
		shown, missing := w.screen(), ""
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				missing = text
			}
		}
		if missing == "" {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.from = len(w.seen)
			return shown
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.t.Fatalf("%q does not appear in\n%s", texts, w.screen())
	return ""
}

func (w *terminal) types(text string) {
	w.t.Helper()
	if _, err := w.master.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// ends waits for the command's end.
func (w *terminal) ends(code int) {
	w.t.Helper()
	select {
	case err := <-w.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			w.t.Fatal(err)
		}
		if got := w.cmd.ProcessState.ExitCode(); got != code {
			w.t.Errorf("exit code %d; want %d\n%s", got, code, w.screen())
		}
	case <-time.After(time.Minute):
		w.t.Fatalf("it does not end\n%s", w.screen())
	}
}

func sameModes(a, b syscall.Termios) bool {
	size := unsafe.Sizeof(a)
	return bytes.Equal(unsafe.Slice((*byte)(unsafe.Pointer(&a)), size), unsafe.Slice((*byte)(unsafe.Pointer(&b)), size))
}
