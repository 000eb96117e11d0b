package workbench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/discreet-dp/discreet/account/workload"
	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/noise"
)

// Limits of one request.
const (
	mostBytes = 4 << 30
	mostLine  = 16 << 20
	mostDraws = 1 << 27
)

// New returns the handler.
func New() http.Handler {
	mux := http.NewServeMux()
	for path, do := range map[string]func(*request) (*reply, error){
		"/noise": draw, "/release": release, "/compose": compose, "/calibrate": calibrate, "/fit": fit, "/quote": quote,
		"/predict": predict, "/together": askTogether, "/together/quote": quoteTogether,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { handle(w, r, do) })
	}
	return mux
}

// request is the line of a request, and what stands behind it.
type request struct {
	*http.Request
	line []byte
	rest *bufio.Reader
}

// reply is a line, and numbers behind it.
type reply struct {
	line    any
	numbers []byte
}

// problem is what is wrong, with the members that errors of the HTTP interface have.
type problem struct {
	Kind     string           `json:"kind"`
	Detail   string           `json:"detail"`
	Instead  string           `json:"instead,omitempty"`
	Spent    *bool            `json:"spent,omitempty"`
	Request  string           `json:"request,omitempty"`
	Failures []client.Failure `json:"failures,omitempty"`
	status   int
}

func (p *problem) Error() string { return p.Detail }

func invalid(format string, args ...any) *problem {
	return &problem{Kind: "invalid", Detail: fmt.Sprintf(format, args...), status: http.StatusUnprocessableEntity}
}

// handle reads a request, does what it asks, and writes the reply.
func handle(w http.ResponseWriter, r *http.Request, do func(*request) (*reply, error)) {
	rest := bufio.NewReaderSize(http.MaxBytesReader(w, r.Body, mostBytes), 1<<16)
	line, err := readLine(rest)
	var out *reply
	if err == nil {
		out, err = do(&request{r, line, rest})
	}
	if err != nil {
		p := problemOf(err)
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(p.status)
		json.NewEncoder(w).Encode(p)
		return
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(out.line); err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", fmt.Sprint(text.Len()+len(out.numbers)))
	w.Write(text.Bytes())
	w.Write(out.numbers) // whoever is gone misses nothing
}

// readLine reads the first line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > mostLine:
			return nil, invalid("the first line is longer than %d bytes", mostLine)
		case err == nil, errors.Is(err, io.EOF):
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// into reads the line.
func (r *request) into(v any) error {
	d := json.NewDecoder(bytes.NewReader(r.line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return invalid("an argument cannot be read: %v", err)
	}
	return nil
}

// numbers reads so many numbers, for each of which each is called.
func (r *request) numbers(n int, each func(uint64)) error {
	var eight [8]byte
	for i := range n {
		if _, err := io.ReadFull(r.rest, eight[:]); err != nil {
			return invalid("there are %d numbers, and %d were announced", i, n)
		}
		each(binary.LittleEndian.Uint64(eight[:]))
	}
	if _, err := r.rest.ReadByte(); err != io.EOF {
		return invalid("there is more behind the %d numbers that were announced", n)
	}
	return nil
}

// integers writes whole numbers.
func integers(values []int64) []byte {
	out := make([]byte, 0, 8*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return out
}

// reals writes real numbers.
func reals(values []float64) []byte {
	out := make([]byte, 0, 8*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// problemOf says what an error means. All that can be wrong follows from what the program chose;
// what a training found out about rows is told to nobody.
func problemOf(err error) *problem {
	var known *problem
	var accountant *workload.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &accountant), errors.Is(err, learn.ErrEncoding), errors.Is(err, learn.ErrSpec), errors.Is(err, learn.ErrModel),
		errors.Is(err, learn.ErrRow), errors.Is(err, noise.ErrScale):
		return invalid("%v", err)
	case errors.Is(err, learn.ErrFit):
		return &problem{Kind: "training", Detail: learn.ErrFit.Error(), status: http.StatusInternalServerError}
	}
	if p := problemOfServers(err); p != nil {
		return p
	}
	return &problem{Kind: "unexpected", Detail: "this did not work", status: http.StatusInternalServerError}
}
