// Package console is what the commands share: the screen that they read from and print to, exit
// codes and what goes with them, JSON, files and pictures, and numbers as people read them.
package console

import (
	"fmt"
	"io"
	"time"
)

// Version is the release; what it was built from is read off the binary.
const Version = "0.1.0"

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
