package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// Question is what is asked.
type Question struct {
	SQL string // one SELECT
	// Parameters are the values of $1, $2, ...: nil, texts, numbers and booleans, and lists of
	// these.
	Parameters []any
	Epsilon    dp.Amount // what to pay each server; 0 means the default of each
	// Settings are those of [api.Settings], by their names and as texts: dp.confidence, dp.error
	// and so on. A price, an error and limits are those of each server; dp.confidence and dp.counts
	// are for what is put together.
	Settings map[string]string
	// Request names the question for retries: up to 40 letters, digits, and - _ . characters. Empty
	// means that one is drawn, which [Partial] tells.
	Request string
}

// wireQuestion is a question on the wire.
type wireQuestion struct {
	Dataset    string            `json:"dataset,omitempty"`
	SQL        string            `json:"sql"`
	Parameters []any             `json:"parameters,omitempty"`
	Epsilon    string            `json:"epsilon,omitempty"`
	Settings   map[string]string `json:"settings,omitempty"`
	Parts      bool              `json:"parts"`
	Request    string            `json:"request,omitempty"`
}

// maxRequestLetters is how long the name of a request is at most: servers have some characters
// more.
const maxRequestLetters = 40

// check checks a question and what is to be done with its answer, before anything is sent.
func (q Question) check() (api.Settings, error) {
	s, err := api.ParseSettings(q.Settings)
	if err == nil && q.Epsilon != 0 {
		s.Epsilon = q.Epsilon
	}
	if err == nil {
		err = s.Check()
	}
	switch {
	case err != nil:
		return s, api.Refuse("", "%v", err)
	case s.Stream == "on":
		return s, api.Refuse("leave dp.stream out", "answers of a stream have no noise of their own, so they cannot be combined")
	case len(q.Request) > maxRequestLetters || strings.Trim(q.Request, requestLetters) != "":
		return s, api.Refuse("", "the name of a request has up to %d letters, digits, and - _ .", maxRequestLetters)
	case strings.TrimSpace(q.SQL) == "":
		return s, api.Refuse("write one SELECT", "the question is empty")
	}
	return s, nil
}

const requestLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// wire is a question for one server. Streams answer without noise of their own, and what is done
// with the total is not done at each server.
func (q Question) wire(s *Server) wireQuestion {
	out := wireQuestion{Dataset: s.Dataset, SQL: q.SQL, Parameters: q.Parameters, Parts: true,
		Settings: map[string]string{"dp.stream": "off"}}
	for name, value := range q.Settings {
		switch strings.ToLower(name) {
		case "dp.errors", "dp.counts", "dp.stream":
		default:
			out.Settings[name] = value
		}
	}
	if q.Epsilon != 0 {
		out.Epsilon = q.Epsilon.String()
	}
	return out
}

// unknownKeyText is in what servers say of keys that they do not know.
const unknownKeyText = "not as the document says"

// explain asks a server for the price, and for what the answer would be made of.
func (s *Server) explain(ctx context.Context, q Question) (*api.Explanation, error) {
	var out api.Explanation
	err := s.Call(ctx, http.MethodPost, "/v1/explain", q.wire(s), &out)
	var said *ServerError
	if errors.As(err, &said) && said.Kind == "invalid" && said.status == http.StatusUnprocessableEntity &&
		strings.Contains(said.Detail, unknownKeyText) {
		return nil, fmt.Errorf("%w: the server may be older than this program, and may not support several servers", err)
	}
	return &out, err
}

// answerTimeout is how long a server may take to answer: its own limit, five minutes unless its
// owner has chosen, and its queue come before it.
const answerTimeout = 30 * time.Minute

// ask asks a server, under a name.
func (s *Server) ask(ctx context.Context, q Question, request string) (*api.Answer, error) {
	in := q.wire(s)
	in.Request = request
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var out api.Answer
	if err := s.Call(ctx, http.MethodPost, "/v1/query", in, &out); err != nil {
		return nil, err
	}
	return &out, nil
}
