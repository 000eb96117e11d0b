package server

import (
	"fmt"
	"sync"
	"time"
)

// What takes long to open is told in the log: after the first seconds, and then now and then.
const (
	firstProgress = 2 * time.Second
	nextProgress  = 10 * time.Second
)

// progress tells the log how far the opening is, beside whoever else wants to know.
func (s *Server) progress() func(what string, done, of int64) {
	var mu sync.Mutex
	var began string
	var next time.Time
	return func(what string, done, of int64) {
		if s.config.Progress != nil {
			s.config.Progress(what, done, of)
		}
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		switch {
		case what != began:
			began, next = what, now.Add(firstProgress)
		case now.After(next):
			next = now.Add(nextProgress)
			s.config.Log.Info("opening", "what", what, "done", fmt.Sprintf("%d %%", 100*done/max(of, 1)))
		}
	}
}
