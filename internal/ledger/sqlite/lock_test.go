package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

func init() {
	// hold opens the ledger, says so, and keeps it until killed.
	children["hold"] = func(path string) error {
		l, err := Open(path)
		if err != nil {
			return err
		}
		if _, err := l.Charge(ctx, ask("held", hospital(10))); err != nil {
			return err
		}
		fmt.Println("open")
		select {}
	}
}

func TestPromise8OneWriterAtATime(t *testing.T) {
	busy := func(t *testing.T, path string) {
		t.Helper()
		start := time.Now()
		l, err := Open(path)
		if !errors.Is(err, ledger.ErrBusy) {
			if err == nil {
				l.Close()
			}
			t.Fatalf("got %v; want ErrBusy", err)
		}
		if d := time.Since(start); d < openTimeout || d > 3*openTimeout {
			t.Errorf("waited %v; want about %v", d, openTimeout)
		}
	}
	t.Run("same process", func(t *testing.T) {
		t.Parallel()
		l, path := fresh(t)
		busy(t, path)
		mustCharge(t, l, ask("still works", hospital(1)))
	})
	t.Run("verify", func(t *testing.T) {
		t.Parallel()
		_, path := fresh(t)
		if _, err := Verify(path); !errors.Is(err, ledger.ErrBusy) {
			t.Fatalf("got %v; want ErrBusy", err)
		}
	})
	t.Run("closed while waited for", func(t *testing.T) {
		t.Parallel()
		l, path := fresh(t)
		time.AfterFunc(openTimeout/4, func() { l.Close() })
		second, err := Open(path)
		noError(t, err)
		mustClose(t, second)
	})
	t.Run("lock file removed", func(t *testing.T) {
		t.Parallel()
		// Whoever removes the lock file still meets the lock of SQLite.
		_, path := fresh(t)
		noError(t, os.Remove(path+".lock"))
		busy(t, path)
	})
	t.Run("other process, killed", func(t *testing.T) {
		t.Parallel()
		l, path := fresh(t)
		mustClose(t, l)
		child := command("hold", path)
		out, err := child.StdoutPipe()
		noError(t, err)
		noError(t, child.Start())
		defer child.Process.Kill()
		if line, _, err := bufio.NewReader(out).ReadLine(); err != nil || string(line) != "open" {
			t.Fatalf("the child said %q, %v", line, err)
		}
		busy(t, path)
		child.Process.Kill()
		child.Wait()
		start := time.Now()
		l = reopen(t, path)
		if d := time.Since(start); d > openTimeout/2 {
			t.Errorf("the lock outlived its process for %v", d)
		}
		if n := spent(t, l, "hospital"); n != 1 {
			t.Errorf("spent %d; want the charge of the process that was killed", n)
		}
	})
}

func TestContextAndClose(t *testing.T) {
	l, _ := fresh(t)
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := l.Charge(over, ask("r", hospital(1))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want Canceled", err)
	}
	// A caller that waits for the lock can stop waiting.
	l.Lock()
	soon, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := l.Charge(soon, ask("r", hospital(1))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v; want DeadlineExceeded", err)
	}
	l.Unlock()
	if n := spent(t, l, "hospital"); n != 0 {
		t.Errorf("spent %d", n)
	}
	mustClose(t, l)
	mustClose(t, l)
	if _, err := l.Charge(ctx, ask("r", hospital(1))); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("got %v; want ErrClosed", err)
	}
	if err := l.Keep(ctx, 1, "k", []byte("a")); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("got %v; want ErrClosed", err)
	}
}
