package checkpoint

import "io"

// newPipe returns two ends of a pipe in memory that holds some pieces, so that no end waits for
// the other all the time.
func newPipe() (*pipeReader, *pipeWriter) {
	full, empty, stop := make(chan []byte, 4), make(chan []byte, 4), make(chan struct{})
	for range cap(empty) {
		empty <- nil
	}
	return &pipeReader{full: full, empty: empty, stop: stop}, &pipeWriter{full: full, empty: empty, stop: stop}
}

type pipeReader struct {
	full, empty chan []byte
	stop        chan struct{}
	piece, rest []byte
}

func (r *pipeReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.piece != nil {
			r.empty <- r.piece
		}
		next, ok := <-r.full
		if r.piece, r.rest = next, next; !ok {
			return 0, io.EOF
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// close lets the other end go on without anybody who reads.
func (r *pipeReader) close() { close(r.stop) }

type pipeWriter struct {
	full, empty chan []byte
	stop        chan struct{}
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	select {
	case piece := <-w.empty:
		w.full <- append(piece[:0], b...)
	case <-w.stop:
	}
	return len(b), nil
}

func (w *pipeWriter) close() { close(w.full) }
