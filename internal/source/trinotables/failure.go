package trinotables

import (
	"context"
	"errors"
	"net/http"
	"strings"

	trino "github.com/trinodb/trino-go-client/trino"

	"github.com/discreet-dp/discreet/internal/address"
)

// Failure is why Trino has not done what it was asked to do. Its text is the same whatever Trino
// says, which is for the owner alone.
type Failure struct {
	Dataset string
	Cluster *Cluster
	Err     error
}

func (e *Failure) Error() string {
	return "the Trino cluster of the dataset " + e.Dataset + " cannot be asked; ask the owner to run 'discreet check', which says why"
}

func (e *Failure) Explain() string {
	return "the Trino cluster of the dataset " + e.Dataset + ", " + e.Cluster.String() + ", cannot be asked: " + e.Cluster.Why(e.Err)
}

// Fail is a [Failure], or what ended the context.
func (p *Cluster) Fail(ctx context.Context, dataset string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Failure{dataset, p, err}
}

// Name is what Trino calls an error of its own, such as TABLE_NOT_FOUND; or nothing, where it is
// not one that a statement ended with.
func Name(err error) string {
	var said *trino.ErrTrino
	if !errors.As(err, &said) {
		return ""
	}
	return said.ErrorName
}

// OutOfMemory reports whether a statement needed more memory than the cluster has for it.
func OutOfMemory(err error) bool {
	switch Name(err) {
	case "EXCEEDED_LOCAL_MEMORY_LIMIT", "EXCEEDED_GLOBAL_MEMORY_LIMIT", "CLUSTER_OUT_OF_MEMORY", "EXCEEDED_SPILL_LIMIT",
		"OUT_OF_SPILL_SPACE", "EXCEEDED_FUNCTION_MEMORY_LIMIT":
		return true
	}
	return false
}

// causes are what Trino's errors are, in words for the owner.
var causes = map[string]string{
	"QUERY_QUEUE_FULL": "its queue is full: a resource group takes no more of our queries; they have the source " + ClientName +
		" and the client tag " + ClientName + ", with which an administrator can give them their own group",
	"NO_NODES_AVAILABLE":         "it has no worker to run a query on",
	"SERVER_STARTING_UP":         "it is still starting",
	"SERVER_SHUTTING_DOWN":       "it is being shut down",
	"ADMINISTRATIVELY_KILLED":    "an administrator ended the query",
	"ADMINISTRATIVELY_PREEMPTED": "an administrator's rule ended the query",
	"TOO_MANY_REQUESTS_FAILED":   "a worker does not answer",
	"REMOTE_HOST_GONE":           "a worker went away in the middle of a query",
	"REMOTE_TASK_ERROR":          "a worker went away in the middle of a query",
	"PAGE_TRANSPORT_TIMEOUT":     "a worker does not answer",
	"PAGE_TRANSPORT_ERROR":       "a worker does not answer",
	"INVALID_SESSION_PROPERTY": "it does not have all the session properties that are set for queries (" + settings() +
		"); it may be too old or too new",
	"CLUSTER_OUT_OF_MEMORY": "the cluster does not have enough memory",
	"EXCEEDED_TIME_LIMIT":   "a query took longer than it allows",
	"EXCEEDED_CPU_LIMIT":    "a query took more processor time than it allows",
	"EXCEEDED_SCAN_LIMIT":   "a query read more than it allows",
}

func settings() string { return strings.Join(Properties(), ", ") }

// ends are how a connection ends, as the libraries say it, and in words for the owner.
var ends = [][2]string{
	{"HTTP response to HTTPS client", "it has no TLS on this port; write its https port, and set " +
		"http-server.https.enabled=true; for a cluster on this machine, with data that anybody may see, use ?sslmode=disable"},
	{"malformed HTTP response", "it uses TLS on this port; remove sslmode=disable"},
	{"Client sent an HTTP request", "it uses TLS on this port; remove sslmode=disable"},
	{"tls: certificate required", "it wants a client certificate; write sslcert=FILE and sslkey=FILE into the address"},
	{"bad certificate", "it does not accept our certificate"},
	{"context deadline exceeded", "it does not answer"},
	{"timeout awaiting response", "it does not answer"},
	{"connection refused", "it has gone away"},
	{"EOF", "it has gone away, or does not speak HTTP there"},
	{"connection reset", "it has gone away"},
}

// Why says why something did not work, to the owner: in words where it is known, and else in
// Trino's. It never has the password or the token.
func (p *Cluster) Why(err error) string {
	text := p.why(err)
	r := &http.Request{Header: http.Header{}}
	if secret, e := p.transport.secret(); e == nil && secret != nil {
		secret(r)
		_, password, _ := r.BasicAuth()
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if password != "" && strings.Contains(text, password) || strings.Contains(text, token) {
			return "the reason cannot be shown, because it contains the password"
		}
	}
	return text
}

func (p *Cluster) why(err error) string {
	if text := address.Certificate(err); text != "" {
		return text
	}
	var gone *absent
	var failed *trino.ErrQueryFailed
	var said *trino.ErrTrino
	switch {
	case errors.Is(err, errElsewhere):
		return errElsewhere.Error()
	case errors.Is(err, errToken):
		return "the address " + errToken.Error()
	case errors.As(err, &gone):
		return "nothing is listening there (" + gone.short() + ")"
	case errors.As(err, &said):
		return p.said(said)
	case errors.As(err, &failed) && failed.StatusCode != 0:
		return p.status(failed.StatusCode)
	}
	text := err.Error()
	for _, known := range ends {
		if strings.Contains(text, known[0]) {
			return known[1]
		}
	}
	return strings.TrimPrefix(text, "trino: ")
}

// short leaves out what the address says already.
func (a *absent) short() string {
	text := a.text
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}

func (p *Cluster) said(e *trino.ErrTrino) string {
	if text := causes[e.ErrorName]; text != "" {
		return text
	}
	if e.ErrorName == "PERMISSION_DENIED" {
		return "the user " + p.User + " is not allowed to do what is needed. Trino says: " + e.Message
	}
	return "Trino says: " + e.Message + " (" + e.ErrorName + ")"
}

// status is how a request ended that was none for Trino.
func (p *Cluster) status(code int) string {
	switch code {
	case http.StatusUnauthorized:
		switch {
		case p.TokenFile != "":
			return "it does not accept the token that tokenfile= names, which may have expired or be for somebody other than " + p.User
		case p.PasswordFile != "":
			return "it does not accept the password that passwordfile= names, for the user " + p.User
		}
		if secret, _ := p.transport.secret(); secret != nil {
			return "it does not accept the password that " + address.PasswordVariable + " has, for the user " + p.User
		}
		return "it wants to know who is asking, but no password was given: put it into a file that passwordfile= names, or into " +
			address.PasswordVariable + ", or a JWT into a file that tokenfile= names; without TLS neither is sent"
	case http.StatusForbidden:
		return "it does not let the user " + p.User + " ask"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "a proxy in front of it does not reach it, or it is still starting"
	case http.StatusTooManyRequests:
		return "it has too many requests"
	case http.StatusNotFound, http.StatusGone:
		return "it does not know a query that it had begun, as after a restart; or the program listening there is not Trino"
	}
	return "the program listening there is not Trino, or does not talk to us (" + http.StatusText(code) + ")"
}
