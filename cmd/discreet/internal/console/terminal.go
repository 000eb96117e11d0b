package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

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
