package workbench

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/dp"
)

type federatedRequest struct {
	Servers    []serverAddress   `json:"servers"`
	SQL        string            `json:"sql"`
	Parameters []any             `json:"parameters"`
	Epsilon    string            `json:"epsilon"`
	Settings   map[string]string `json:"settings"`
	Request    string            `json:"request"`
}

// serverAddress is a server: what to call it, where it is, who asks, and about what.
type serverAddress struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Token   string `json:"token"`
	Dataset string `json:"dataset"`
	Trust   string `json:"trust"` // a file of certificates, where it is not the machine's that count
}

func (p serverAddress) server() (*client.Server, error) {
	s, err := client.New(p.Address, p.Token)
	if err == nil && p.Trust != "" {
		err = s.Trust(p.Trust)
	}
	switch {
	case err != nil:
		return nil, refuseRequest("%v", err)
	case s.Dataset != "":
		return nil, refuseRequest("%s is behind a path, so it cannot be asked together with others", p.Address)
	}
	s.Name, s.Dataset = p.Name, p.Dataset
	return s, nil
}

// readQuestion returns the servers, and what to ask them.
func (q *federatedRequest) readQuestion(r *request) (*client.Group, client.Question, error) {
	d := json.NewDecoder(bytes.NewReader(r.line))
	d.DisallowUnknownFields()
	d.UseNumber() // parameters are sent on as they were written
	if err := d.Decode(q); err != nil {
		return nil, client.Question{}, refuseRequest("an argument cannot be read: %v", err)
	}
	var servers []*client.Server
	for _, p := range q.Servers {
		s, err := p.server()
		if err != nil {
			return nil, client.Question{}, err
		}
		servers = append(servers, s)
	}
	out := client.Question{SQL: q.SQL, Parameters: q.Parameters, Settings: q.Settings, Request: q.Request}
	if q.Epsilon != "" {
		var err error
		if out.Epsilon, err = dp.Parse(q.Epsilon); err == nil && out.Epsilon == 0 {
			err = errors.New("an answer needs an epsilon above 0")
		}
		if err != nil {
			return nil, out, refuseRequest("%v", err)
		}
	}
	return client.Together(servers...), out, nil
}

// askServers asks all servers, and puts their answers together. The columns are told whole.
func askServers(r *request) (*reply, error) {
	var q federatedRequest
	group, question, err := q.readQuestion(r)
	if err != nil {
		return nil, err
	}
	answer, err := group.Ask(r.Context(), question)
	if err != nil {
		if newServersError(err) == nil { // what servers said does not fit together: that is told, for it was paid for
			err = &requestError{Kind: "unexpected", Detail: err.Error(), Request: q.Request, status: http.StatusBadGateway}
		}
		return nil, err
	}
	return &reply{line: struct {
		*client.Answer
		Columns []api.Column `json:"columns"`
	}{answer, answer.Columns}}, nil
}

// quoteServers says what that would cost. It is free.
func quoteServers(r *request) (*reply, error) {
	var q federatedRequest
	group, question, err := q.readQuestion(r)
	if err != nil {
		return nil, err
	}
	quote, err := group.Price(r.Context(), question)
	if err != nil {
		return nil, err
	}
	return &reply{line: struct {
		*client.Quote
		Columns []api.Column `json:"columns"`
	}{quote, quote.Columns}}, nil
}

// newServersError says why several servers gave no answer; nil where err is something else.
func newServersError(err error) *requestError {
	var refused *api.Refusal
	var unasked *client.Unasked
	var partial *client.Partial
	nothing := false
	switch {
	case errors.As(err, &refused):
		return &requestError{Kind: "refused", Detail: refused.Reason, Instead: refused.Instead, Spent: &nothing,
			status: http.StatusUnprocessableEntity}
	case errors.As(err, &unasked):
		return &requestError{Kind: commonKind(unasked.Failures), Detail: unasked.Error(), Spent: &nothing, Failures: unasked.Failures,
			status: http.StatusConflict}
	case errors.As(err, &partial):
		spent := false
		for _, s := range partial.Answered {
			spent = spent || !s.Answer.Receipt.Free
		}
		out := &requestError{Kind: "partial", Detail: partial.Error(), Request: partial.Request, Failures: partial.Failures,
			status: http.StatusBadGateway}
		for _, f := range partial.Failures {
			spent = spent || f.Spent != nil && *f.Spent
		}
		if spent {
			out.Spent = &spent // otherwise nobody knows what those did that were not heard
		}
		return out
	}
	return nil
}

// commonKind is the kind of failures that are all of one.
func commonKind(failures []client.Failure) string {
	for _, f := range failures[1:] {
		if f.Kind != failures[0].Kind {
			return "unasked"
		}
	}
	return failures[0].Kind
}
