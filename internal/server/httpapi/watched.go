package httpapi

import (
	"net/http"

	"github.com/discreet-dp/discreet/internal/server/bytelimit"
)

// What a request holds of its user's share.
const (
	requestSize = 16 << 10 // that is taken before anything is done, so that nobody pays who could not be answered
	parsedSize  = 16       // for each byte of a body, which is read into values
	textSize    = 2        // for each byte of an answer that is sent in one piece: it, and what it was made of
)

// unasked is the problem of a request for which there is no room, and which did nothing.
func unasked(err error) *Problem {
	p := *ProblemOf(err)
	p.Spent = no
	return &p
}

// watched remembers whether an answer has begun, and counts what of it waits to be read. Its head
// leaves with its first bytes, so that a problem can still take their place where there is no room
// for them.
type watched struct {
	http.ResponseWriter
	status int
	begun  bool // whether the head has left
	full   bool // whether a problem has left instead
	notes  *notes
	refuse func(error)
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// begin lets the head leave, where there is one.
func (w *watched) begin() {
	if !w.begun && w.status != 0 {
		w.ResponseWriter.WriteHeader(w.status)
		w.begun = true
	}
}

func (w *watched) Write(p []byte) (int, error) {
	if w.full {
		return len(p), nil // which nobody misses
	}
	if err := w.notes.share.Reserve(textSize * len(p)); err != nil {
		if w.begun {
			return 0, err
		}
		w.begun, w.full, w.status = true, true, http.StatusTooManyRequests
		w.refuse(err)
		return len(p), nil
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.begin()
	return w.ResponseWriter.Write(p)
}

// FlushError is for [http.ResponseController].
func (w *watched) FlushError() error {
	w.begin()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// full is the problem of who holds too much.
func full(e *bytelimit.FullError) *Problem {
	instead := "read the answers that are on their way to you, or close them; or wait as long as Retry-After says"
	if e.Others {
		instead = "wait as long as Retry-After says"
	}
	return &Problem{Status: http.StatusTooManyRequests, Kind: "limit", Detail: e.Error(),
		Instead: instead + ", and ask again: what was paid for is free",
		header:  http.Header{"Retry-After": {seconds(e.Wait)}}}
}
