package client

import (
	"errors"
	"net/url"
	"strings"

	"github.com/discreet-dp/discreet/internal/render"
)

// Failure is a server that gave no answer.
type Failure struct {
	Server string `json:"server"`
	// Kind is what the server calls it: refused, budget, closed, denied and so on; away where it
	// could not be reached, or the connection broke.
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	// Spent says whether something was charged there; null where that is not known.
	Spent *bool `json:"spent"`
}

func failureOf(s *Server, err error) Failure {
	out := Failure{Server: s.Name, Kind: "away", Detail: err.Error()}
	var said *ServerError
	var broken *url.Error
	switch {
	case errors.As(err, &said):
		out.Kind, out.Spent = said.Kind, said.Spent
	case errors.As(err, &broken): // without the address, which the name of the server stands for
		out.Detail = broken.Err.Error()
	default:
		out.Kind = "unexpected"
	}
	out.Detail = render.Clean(out.Detail)
	return out
}

// Unasked says that nobody was asked and nothing was charged, because of these servers.
type Unasked struct{ Failures []Failure }

func (e *Unasked) Error() string {
	return "nobody was asked, and nothing was charged: " + list(e.Failures)
}

// kindOtherRequest is what servers call a request that was charged with something else: with
// another question, or before the data changed.
const kindOtherRequest = "request"

// Partial says that some servers have answered and others have not. What was answered is paid for,
// and each server keeps it: the same question, with the same Request, is charged once at each.
type Partial struct {
	Request  string
	Answered []Share
	Failures []Failure
}

func (e *Partial) Error() string {
	text := "not all servers have answered, so there is no combined answer: " + list(e.Failures)
	for _, f := range e.Failures {
		switch {
		case f.Spent == nil:
			text += ". It is not known whether " + f.Server + " has charged"
		case *f.Spent:
			text += ". " + f.Server + " has charged"
		default:
			text += ". " + f.Server + " has charged nothing"
		}
	}
	for _, s := range e.Answered {
		text += ". " + s.Server + " has answered, "
		if s.Answer.Receipt.Free {
			text += "for nothing"
		} else {
			text += "for epsilon " + s.Answer.Cost.Epsilon.String()
		}
	}
	for _, f := range e.Failures {
		if f.Kind == kindOtherRequest {
			return text + ". The request " + e.Request + " cannot be sent again to " + f.Server + ": ask without it; whatever was " +
				"answered is free if the data is still the same"
		}
	}
	return text + ". Ask again with the request " + e.Request + ": no server charges you twice"
}

// list says who failed, and of those who say the same what that is, once.
func list(failures []Failure) string {
	var texts []string
	said := map[string]string{}
	for _, f := range failures {
		if before, ok := said[f.Detail]; ok {
			said[f.Detail] = before + ", " + f.Server
			continue
		}
		said[f.Detail] = f.Server
		texts = append(texts, f.Detail)
	}
	for i, detail := range texts {
		texts[i] = said[detail] + ": " + detail
	}
	return strings.Join(texts, "; ")
}
