// Package workbench is what a program gets of the library that brings its own numbers: exact noise,
// releases, accounting, and training on rows that it sends. It is an [http.Handler], with no user,
// no policy and no ledger behind it: whoever sends rows has them, and what their releases cost
// together is theirs to add up. Several servers are asked together here too, with the tokens that
// the program has: what each charges is in its own ledger.
//
// Bodies are a line of JSON, and for what takes or gives many numbers these behind it, eight bytes
// each with the lowest first: whole numbers for noise and releases, IEEE 754 for rows.
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

	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/workload"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
)

// Limits of one request.
const (
	maxRequestBytes = 4 << 30
	maxLineBytes    = 16 << 20
	maxDraws        = 1 << 27
)

func New() http.Handler {
	mux := http.NewServeMux()
	for path, do := range map[string]func(*request) (*reply, error){
		"/noise": draw, "/release": release, "/compose": compose, "/calibrate": calibrate, "/fit": fit, "/quote": quote,
		"/predict": predict, "/together": askServers, "/together/quote": quoteServers,
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

// requestError is what is wrong, with the members that errors of the HTTP interface have.
type requestError struct {
	Kind     string           `json:"kind"`
	Detail   string           `json:"detail"`
	Instead  string           `json:"instead,omitempty"`
	Spent    *bool            `json:"spent,omitempty"`
	Request  string           `json:"request,omitempty"`
	Failures []client.Failure `json:"failures,omitempty"`
	status   int
}

func (p *requestError) Error() string { return p.Detail }

func refuseRequest(format string, args ...any) *requestError {
	return &requestError{Kind: "invalid", Detail: fmt.Sprintf(format, args...), status: http.StatusUnprocessableEntity}
}

// handle reads a request, does what it asks, and writes the reply.
func handle(w http.ResponseWriter, r *http.Request, do func(*request) (*reply, error)) {
	rest := bufio.NewReaderSize(http.MaxBytesReader(w, r.Body, maxRequestBytes), 1<<16)
	line, err := readLine(rest)
	var out *reply
	if err == nil {
		out, err = do(&request{r, line, rest})
	}
	if err != nil {
		p := newRequestError(err)
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

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLineBytes:
			return nil, refuseRequest("the first line is longer than %d bytes", maxLineBytes)
		case err == nil, errors.Is(err, io.EOF):
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (r *request) decode(v any) error {
	d := json.NewDecoder(bytes.NewReader(r.line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return refuseRequest("an argument cannot be read: %v", err)
	}
	return nil
}

// numbers reads so many numbers, for each of which each is called.
func (r *request) numbers(n int, each func(uint64)) error {
	var eight [8]byte
	for i := range n {
		if _, err := io.ReadFull(r.rest, eight[:]); err != nil {
			return refuseRequest("there are %d numbers, but %d were announced", i, n)
		}
		each(binary.LittleEndian.Uint64(eight[:]))
	}
	if _, err := r.rest.ReadByte(); err != io.EOF {
		return refuseRequest("there is more after the %d numbers that were announced", n)
	}
	return nil
}

func integerBytes(values []int64) []byte {
	out := make([]byte, 0, 8*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return out
}

func realBytes(values []float64) []byte {
	out := make([]byte, 0, 8*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

// newRequestError says what an error means. All that can be wrong follows from what the program
// chose; what a training found out about rows is told to nobody.
func newRequestError(err error) *requestError {
	var known *requestError
	var accountant *workload.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &accountant), errors.Is(err, learn.ErrEncoding), errors.Is(err, learn.ErrSpec), errors.Is(err, learn.ErrModel),
		errors.Is(err, learn.ErrRow), errors.Is(err, noise.ErrScale):
		return refuseRequest("%v", err)
	case errors.Is(err, learn.ErrFit):
		return &requestError{Kind: "training", Detail: learn.ErrFit.Error(), status: http.StatusInternalServerError}
	}
	if p := newServersError(err); p != nil {
		return p
	}
	return &requestError{Kind: "unexpected", Detail: "this did not work", status: http.StatusInternalServerError}
}

// accountingRequest asks what mechanisms cost together, or how much noise they need. Compose has
// one of epsilon and delta, and calibrate both.
type accountingRequest struct {
	Mechanisms []string `json:"mechanisms"`
	Epsilon    *float64 `json:"epsilon"`
	Delta      *float64 `json:"delta"`
	Direction  string   `json:"direction"`
}

type Use struct {
	Mechanism string `json:"mechanism"`
	Times     int    `json:"times"`
}

// usesDocument are those of a workload.
func usesDocument(uses []workload.Use) (out []Use) {
	for _, u := range uses {
		out = append(out, Use{u.Mechanism.String(), u.Times})
	}
	return out
}

// Directions are the neighbours that are compared under sampling, by their names.
var Directions = map[string]workload.Direction{"": workload.Both, "both": workload.Both, "remove": workload.Remove, "add": workload.Add}

// ComposedDocument is what all accountants say, for machines: epsilon at a delta, or delta at an
// epsilon. The keys are in this order.
func ComposedDocument(given string, at float64, w *workload.Workload, answer workload.Answer) any {
	type rest struct {
		Mechanisms []Use              `json:"mechanisms"`
		Results    []workload.Result  `json:"results"`
		Tightest   workload.Method    `json:"tightest"`
		Skipped    []workload.Skipped `json:"skipped,omitempty"`
	}
	body := rest{usesDocument(w.Uses()), answer.Results, answer.Tightest().Method, answer.Skipped}
	if given == "delta" {
		return struct {
			Delta float64 `json:"delta"`
			rest
		}{at, body}
	}
	return struct {
		Epsilon float64 `json:"epsilon"`
		rest
	}{at, body}
}

// CalibratedDocument is the noise that a budget needs, for machines.
func CalibratedDocument(epsilon, delta float64, found workload.Calibration) map[string]any {
	out := map[string]any{
		"epsilon": epsilon, "delta": delta, "mechanisms": usesDocument(found.Workload.Uses()),
		"parameter": found.Parameter, "value": found.Value(),
		"lower": found.Noise.Lower, "upper": found.Noise.Upper,
	}
	if found.Parameter != "epsilon" {
		out[found.Parameter] = found.Value()
	}
	if alpha, known := found.Error(0.05); known {
		out["error95"] = alpha
	}
	return out
}

// readUses reads what is asked; free says that the noise may be left out.
func (q *accountingRequest) readUses(r *request, free bool) ([]workload.Use, workload.Direction, error) {
	if err := r.decode(q); err != nil {
		return nil, 0, err
	}
	direction, ok := Directions[q.Direction]
	if !ok {
		return nil, 0, refuseRequest("there is no direction %q; the directions are both, remove and add", q.Direction)
	}
	var uses []workload.Use
	for _, text := range q.Mechanisms {
		u, err := workload.ParseUse(text, free)
		if err != nil {
			return nil, 0, err
		}
		uses = append(uses, u)
	}
	return uses, direction, nil
}

func compose(r *request) (*reply, error) {
	var q accountingRequest
	uses, direction, err := q.readUses(r, false)
	if err != nil {
		return nil, err
	}
	if (q.Delta == nil) == (q.Epsilon == nil) {
		return nil, refuseRequest("give delta to compute epsilon, or epsilon to compute delta")
	}
	w, err := workload.New(uses...)
	if err != nil {
		return nil, err
	}
	given, at, ask := "delta", q.Delta, w.Epsilon
	if q.Epsilon != nil {
		given, at, ask = "epsilon", q.Epsilon, w.Delta
	}
	answer, err := ask(*at, direction)
	if err != nil {
		return nil, err
	}
	return &reply{ComposedDocument(given, *at, w, answer), nil}, nil
}

func calibrate(r *request) (*reply, error) {
	var q accountingRequest
	uses, direction, err := q.readUses(r, true)
	if err != nil {
		return nil, err
	}
	if q.Delta == nil || q.Epsilon == nil {
		return nil, refuseRequest("give the epsilon and delta that the noise must keep")
	}
	found, err := workload.Calibrate(uses, *q.Epsilon, *q.Delta, direction)
	if err != nil {
		return nil, err
	}
	return &reply{CalibratedDocument(*q.Epsilon, *q.Delta, found), nil}, nil
}
