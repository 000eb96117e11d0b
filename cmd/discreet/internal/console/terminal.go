// Package console is what the commands share: the screen that they read from and print to, exit
// codes and what goes with them, JSON, files and pictures, and numbers as people read them.
package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// Screen is where commands read and print, and the clock that they go by.
type Screen struct {
	In       io.Reader
	Out, Err io.Writer
	Now      func() time.Time
}

// Watch returns a screen that remembers whether something could not be printed.
func (s Screen) Watch() Screen {
	s.Out = &outputWatcher{to: s.Out}
	return s
}

// Failed returns why something could not be printed, if so.
func (s Screen) Failed() error {
	if p, ok := s.Out.(*outputWatcher); ok {
		return p.failed
	}
	return nil
}

// outputWatcher remembers that something could not be printed: an answer that went
// nowhere, into a full disk, is no success.
type outputWatcher struct {
	to     io.Writer
	failed error
}

func (p *outputWatcher) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if err != nil && p.failed == nil {
		p.failed = fmt.Errorf("the output could not be written: %w", err)
	}
	return n, err
}

// Stage is how far the opening of something is, told by one goroutine and shown by another. It is
// empty to begin with.
type Stage struct{ text atomic.Pointer[string] }

// Tell takes in how much of something was read. When that is all of it, nothing is left to be told.
func (s *Stage) Tell(what string, done, of int64) {
	if done >= of {
		s.text.Store(nil)
		return
	}
	text := fmt.Sprintf("%s, %d %%", what, 100*done/of)
	s.text.Store(&text)
}

// Or is what was told last, or something else where there is nothing.
func (s *Stage) Or(what string) func() string {
	return func() string {
		if text := s.text.Load(); text != nil {
			return *text
		}
		return what
	}
}

// IsTerminal reports whether a person is at the other end of a reader or a writer.
func IsTerminal(end any) bool {
	if p, ok := end.(*outputWatcher); ok {
		end = p.to
	}
	f, ok := end.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	nothing, err := os.Stat(os.DevNull) // a character device, and nobody there
	return err != nil || !os.SameFile(info, nothing)
}

// Waiting shows, on a terminal and from the second second on, that something is
// under way. The function that it returns ends that. What it shows is time alone.
func Waiting(w io.Writer, what string) (done func()) {
	return WaitingFor(w, func() string { return what })
}

// WaitingFor is Waiting for something that changes.
func WaitingFor(w io.Writer, what func() string) (done func()) {
	if !IsTerminal(w) {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		start := time.Now()
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-stop:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				if since := time.Since(start); since > 2*time.Second {
					shown = true
					fmt.Fprintf(w, "\r%s ... %.1f s\x1b[K", what(), since.Seconds())
				}
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// ShellQuote writes a word as a shell reads it, for commands that are shown to be copied.
func ShellQuote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Progress shows, on a terminal, how much of a number of steps is done.
func Progress(w io.Writer, what string) (tell func(step, of int), done func()) {
	if !IsTerminal(w) {
		return func(int, int) {}, func() {}
	}
	start, last := time.Now(), time.Time{}
	tell = func(step, of int) {
		if now := time.Now(); now.Sub(start) > time.Second && now.Sub(last) > 100*time.Millisecond {
			last = now
			fmt.Fprintf(w, "\r%s ... %d of %d", what, step, of)
		}
	}
	return tell, func() { fmt.Fprint(w, "\r\x1b[K") }
}

// Counting shows, on a terminal and from the second second on, how many of something there are, at
// most ten times a second.
func Counting(w io.Writer, what, things string) (tell func(n int), done func()) {
	if !IsTerminal(w) {
		return func(int) {}, func() {}
	}
	start, last := time.Now(), time.Time{}
	tell = func(n int) {
		if n%16 != 0 {
			return
		}
		if now := time.Now(); now.Sub(start) > 2*time.Second && now.Sub(last) > 100*time.Millisecond {
			last = now
			fmt.Fprintf(w, "\r%s ... %d %s", what, n, things)
		}
	}
	return tell, func() {
		if !last.IsZero() {
			fmt.Fprint(w, "\r\x1b[K")
		}
	}
}
