package curator

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/releaseclock"
)

// A time that is beyond a limit is never told as one that is not, and nobody reads centuries.
func TestSayTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1200 * time.Millisecond: "2s", 5*time.Minute + 1: "5m1s", 5 * time.Minute: "5m0s", math.MaxInt64: "more than ten days",
	} {
		if got := sayTime(d); got != want {
			t.Errorf("%v: %s; want %s", d, got, want)
		}
	}
}

// An answer is made of what was released when that may be seen, and not as soon as it is there.
func TestMadeWhenSettled(t *testing.T) {
	p := releaseclock.New(func() {})
	p.SetSchedule(releaseclock.NewSchedule(nil), time.Minute, nil)
	releaseclock.AddPublicTime(p.WithClock(t.Context()), 10*time.Millisecond)
	a := &request{released: []*answers.Released{nil}}
	a.makeMeanwhile(p.WithClock(t.Context()))()
	if !p.Settled() {
		t.Error("it is made before its time is over")
	}
}

// TestProgram: two programs that say the same of their modules, and of no history, are two.
func TestProgram(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if code, err := codeOf(own); err != nil || code == "" || program() == "" {
		t.Errorf("this one is %q (%v), and %q", code, err, program())
	}
	seen := map[string]bool{}
	for _, text := range []string{"1", "2"} {
		dir := t.TempDir()
		for name, content := range map[string]string{"go.mod": "module m\n\ngo 1.24\n",
			"main.go": "package main\n\nfunc main() { println(" + text + ") }\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", "m", ".")
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		code, err := codeOf(filepath.Join(dir, "m"))
		if err != nil || code == "" || seen[code] {
			t.Errorf("%s: %q (%v), of %v", text, code, err, seen)
		}
		seen[code] = true
	}
	// What has no name of the linker's is known by its bytes.
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, err := codeOf(plain); err != nil || len(code) != 64 {
		t.Errorf("%q, %v", code, err)
	}
}
