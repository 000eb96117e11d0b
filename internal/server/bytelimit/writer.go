package bytelimit

import (
	"net/http"
	"time"
)

// chunk is how many bytes a client has to take within [Patience].
const chunk = 32 << 10

// Paced gives whoever reads an answer of next some time for each part of it: a client that takes
// nothing is cut off, and one that is slow is not. With HTTP/2 that is one stream; a connection of
// which nothing at all is read is cut off by [http.HTTP2Config.WriteByteTimeout].
func Paced(next http.Handler, patience time.Duration, held *Counter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), patience: patience, held: held}
		next.ServeHTTP(p, r)
		p.extend() // for what net/http still has to send
	})
}

type pacedWriter struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	held     *Counter
}

func (w *pacedWriter) extend() { w.control.SetWriteDeadline(time.Now().Add(w.patience)) }

func (w *pacedWriter) Write(p []byte) (written int, err error) {
	for {
		w.extend()
		n, err := w.ResponseWriter.Write(p[written:min(len(p), written+chunk)])
		if written += n; err != nil || written >= len(p) {
			return written, w.held.Written(err)
		}
	}
}

// FlushError is for [http.ResponseController].
func (w *pacedWriter) FlushError() error {
	w.extend()
	return w.control.Flush()
}

// Unwrap is for [http.ResponseController].
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
