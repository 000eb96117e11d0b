package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

func TestTerminal(t *testing.T) {
	t.Parallel()
	policy, state := deploy(t, tenQuestions), t.TempDir()
	env := []string{"XDG_STATE_HOME=" + state}
	w := onTerminal(t, env, "query", "-p", policy, "--as", "ana")
	before := modes(t, w.slave)
	w.sees(`\? shows help`, "hospital (1 left)> ")

	// A statement of several lines.
	w.types("SELECT COUNT(*) -- everybody\r")
	w.sees("...> ")
	w.types("FROM patients;\r")
	w.sees("count  ±95%", "price: epsilon 0.1; left: epsilon 0.9", "hospital (0.9 left)> ")

	// What is refused is pointed at, and the dialogue goes on.
	w.types("SELECT COUNT(*)\rFROM patents;\r")
	w.sees(`refused: there is no table "patents"`, "\n  FROM patents\n       ^\n", "hospital (0.9 left)> ")
	w.types("\\nonsense\r")
	w.sees(`there is no command \nonsense`, "(0.9 left)> ")
	w.types("nonsense;\r")
	w.sees("refused: ", "\n  nonsense\n  ^\n", "(0.9 left)> ")

	// Completion: a keyword, a table, a column of it, a column of an alias.
	w.types("sel\t")
	w.sees("select")
	w.types(" COUNT(*) FROM pat\t")
	w.sees("patients")
	w.types(" AS p WHERE p.ag\t")
	w.sees("p.age")
	w.types(" > 50;\r")
	w.sees("price: epsilon 0.1; left: epsilon 0.8", "(0.8 left)> ")
	w.types("SELECT COUNT(*) FROM \t\t")
	w.sees("patients", "visits")

	// Ctrl-C drops the line, and what was typed before it.
	w.types("\x03")
	w.sees("(0.8 left)> ")
	w.types("SELECT\r")
	w.sees("...> ")
	w.types("\x03")
	w.sees("hospital (0.8 left)> ")

	w.types("\\d\r")
	w.sees("patients        6  at most one row, by pid", "visits          3  many rows, by pid; 6 rows in each of 2 groups count",
		"left)> ")
	w.types("\\d visits\r")
	w.sees("cost    decimal  yes   0 .. 2000  0.01", "emergency, internal, surgery", "unit: patients.pid", "left)> ")
	w.types("SET dp.epsilon = 0.2; SELECT COUNT(*) FROM visits;\r")
	w.sees("price: epsilon 0.2; left: epsilon 0.6", "(0.6 left)> ")
	w.types(" SELECT COUNT(*) FROM patients WHERE zip = '1003A';\r")
	w.sees("price: epsilon 0.2", "(0.4 left)> ")
	w.types("\x04")
	w.ends(0)
	if !sameModes(before, modes(t, w.slave)) {
		t.Error("the terminal is not as it was")
	}

	file := filepath.Join(state, "discreet", "history")
	info, err := os.Stat(file)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("the history has mode %v: %v", info.Mode(), err)
	}
	if folder, _ := os.Stat(filepath.Dir(file)); folder.Mode().Perm() != 0o700 {
		t.Errorf("its folder has mode %v", folder.Mode())
	}
	text, _ := os.ReadFile(file)
	if !strings.HasPrefix(string(text), "SELECT COUNT(*) FROM patients;\nSELECT COUNT(*) FROM patents;\n") ||
		!strings.Contains(string(text), "\\d visits\n") {
		t.Errorf("the history is %q", text)
	}
	if strings.Contains(string(text), "1003A") {
		t.Error("what was typed behind a space was kept")
	}

	// Another day. Others were let read the file in between.
	must(t, os.Chmod(file, 0o644))
	again := onTerminal(t, env, "query", "-p", policy, "--as", "ana")
	again.sees("hospital (0.4 left)> ")
	again.types("SELECT COUNT(*) FROM patients;\x01\x0b\x1b[A\x1b[A\x1b[A")
	again.sees("hospital")
	again.types("\x03")
	again.sees("hospital (0.4 left)> ")
	again.types("SELECT COUNT(*) FROM patie\x1b[A\r")
	again.sees("price: free, already paid for", "(0.4 left)> ")
	again.types("exit\r")
	again.ends(0)
	if info, _ := os.Stat(file); info.Mode() != 0o600 {
		t.Errorf("the history has mode %v", info.Mode())
	}

	none := t.TempDir()
	w = onTerminal(t, []string{"XDG_STATE_HOME=" + none}, "query", "-p", policy, "--as", "ana", "--no-history")
	w.sees("left)> ")
	w.types("SHOW ALL;\r")
	w.sees("dp.epsilon     0.1    the price of a question (the policy's default; at least 1e-05, at most 0.5)", "left)> ")
	w.types("\\q\r")
	w.ends(0)
	if entries, _ := os.ReadDir(none); len(entries) != 0 {
		t.Errorf("there is %v", entries)
	}
}

// A terminal that cannot move its cursor has no completion and no history, and can ask.
func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	w := onTerminal(t, []string{"TERM=dumb"}, "query", "-p", policy, "--as", "ana")
	w.sees("hospital (1 left)> ")
	w.types("SELECT COUNT(*)\n")
	w.sees("...> ")
	w.types("\x03")
	w.sees("hospital (1 left)> ")
	w.types(people + ";\n")
	w.sees("price: epsilon 0.1", "hospital (0.9 left)> ")
	w.types("\x04")
	w.ends(0)
}

// Ctrl-C while the engine runs ends the question and not the session.
func TestTerminalInterrupt(t *testing.T) {
	t.Parallel()
	for rows := 500_000; ; rows *= 5 {
		policy := events(t, rows)
		w := onTerminal(t, []string{"XDG_STATE_HOME=" + t.TempDir()}, "query", "-p", policy, "--as", "ana")
		w.sees("events (1 left)> ")
		w.types(countEvents + ";\r")
		if !charged(t, beside(policy, "policy.ledger")) {
			t.Fatal("nothing was charged")
		}
		w.types("\x03")
		shown := w.sees("events (0.9 left)> ")
		interrupted := strings.Contains(shown, "error: interrupted. What was charged stays charged")
		if !interrupted && rows < eventsMost { // it was faster
			continue
		}
		if !interrupted {
			t.Errorf("it says\n%s", shown)
		}
		w.types("SELECT COUNT(*) FROM events WHERE v = 3;\r")
		w.sees("price: epsilon 0.1", "events (0.8 left)> ")
		w.types("\\q\r")
		w.ends(0)
		if r := spent(t, policy); r.Charges != 2 || r.Answers != 1 {
			t.Errorf("the ledger says %+v; want two charges and one answer", r)
		}
		return
	}
}

// Whoever ends the process gets their terminal back.
func TestTerminalTerminated(t *testing.T) {
	t.Parallel()
	w := onTerminal(t, []string{"XDG_STATE_HOME=" + t.TempDir()}, "query", "-p", deploy(t, tenQuestions), "--as", "ana")
	before := modes(t, w.slave)
	w.sees("hospital (1 left)> ")
	if sameModes(before, modes(t, w.slave)) {
		t.Log("the terminal had been taken before it was looked at")
	}
	must(t, w.cmd.Process.Signal(syscall.SIGTERM))
	w.ends(1)
	if m := modes(t, w.slave); m.Lflag&syscall.ECHO == 0 || m.Lflag&syscall.ICANON == 0 || m.Lflag&syscall.ISIG == 0 {
		t.Error("the terminal is not as it was")
	}
}

// The elapsed time is shown on a terminal, and wiped away.
func TestWaiting(t *testing.T) {
	t.Parallel()
	master, slave := pty(t)
	w := &terminal{t: t, master: master}
	go w.watch()
	done := console.Waiting(slave, "asking")
	w.sees("asking ... 2.")
	done()
	for range 2000 {
		w.mu.Lock()
		wiped := strings.HasSuffix(string(w.seen), "\r\x1b[K")
		w.mu.Unlock()
		if wiped {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("it leaves %q", w.seen)
}

func TestNobodyIsThere(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must(t, err)
	defer null.Close()
	_, slave := pty(t)
	if console.IsTerminal(null) || !console.IsTerminal(slave) || !console.IsTerminal(console.Screen{Out: slave}.Watch().Out) ||
		console.IsTerminal(&strings.Builder{}) {
		t.Error("a terminal is taken for something else")
	}
}

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
	must(t, err)
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
	must(t, err)
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

func modes(t *testing.T, f *os.File) syscall.Termios {
	t.Helper()
	var m syscall.Termios
	control(t, f, syscall.TCGETS, unsafe.Pointer(&m))
	return m
}

func onTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	master, slave := pty(t)
	c := exec.Command(os.Args[0], args...)
	c.Env = append(append(os.Environ(), "DISCREET_TEST_MAIN=1", "TERM=xterm"), env...)
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	w := &terminal{t: t, master: master, slave: slave, cmd: c, ended: make(chan error, 1)}
	must(t, c.Start())
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
