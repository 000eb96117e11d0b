package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/render"
)

// Server is a server that runs, as somebody with a token sees it.
type Server struct {
	// Name is what to call it, which is its address unless it is changed, and Dataset what to ask
	// about; empty where there is only one.
	Name, Dataset string

	base, token string
	socket      string // in the place of a host
	http        *http.Client
}

// New returns a server by its address, such as https://db.example:8432, and a token of a user. A
// path is the name of a dataset: https://db.example:8432/hospital. unix: and a path are a socket on
// this machine, where a program finds 'discreet attach'. Nothing is sent yet.
func New(address, token string) (*Server, error) {
	if token = strings.TrimSpace(token); token == "" || strings.ContainsAny(token, "\r\n") {
		return nil, errors.New("the token is empty or not a single line of text: 'discreet user token' makes one")
	}
	if socket, ok := strings.CutPrefix(address, "unix:"); ok {
		// Sockets come and go with their programs: nothing is kept open.
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}
		return &Server{Name: address, base: "http://localhost", socket: socket, token: token,
			http: &http.Client{CheckRedirect: refuseRedirect, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not an address; write one such as https://db.example:8432", address)
	}
	dataset := strings.Trim(u.Path, "/")
	if strings.Contains(dataset, "/") {
		return nil, fmt.Errorf("%q has more after the address than the name of a dataset", address)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%q does not use TLS, so anybody on the way could read the token; use https, or a server on this "+
			"machine", address)
	}
	return &Server{Name: strings.TrimSuffix(address, "/"), Dataset: dataset, base: u.Scheme + "://" + u.Host, token: token,
		http: &http.Client{CheckRedirect: refuseRedirect}}, nil
}

// refuseRedirect does not follow a redirection, which would carry the token elsewhere.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Trust takes the certificates in a file, in PEM, for those that sign the server's, in the place of
// the machine's.
func (s *Server) Trust(file string) error {
	if s.socket != "" {
		return errors.New("a socket on this machine needs no certificate")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s does not contain a certificate", file)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig, transport.DisableKeepAlives = &tls.Config{RootCAs: pool}, true
	s.http.Transport = transport
	return nil
}

// host is where requests go: names of this machine are one.
func (s *Server) host() string {
	if s.socket != "" {
		return "unix:" + s.socket
	}
	u, err := url.Parse(s.base)
	if err != nil {
		return s.base
	}
	host, port := strings.ToLower(u.Hostname()), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// ServerError is what a server said instead of an answer.
type ServerError struct {
	Kind    string `json:"kind"`
	Detail  string `json:"detail"`
	Instead string `json:"instead"`
	// Spent says whether something was charged; nil where it is not known, or nothing could have
	// been.
	Spent *bool `json:"spent"`

	status int
	after  time.Duration // when to try again
}

func (e *ServerError) Error() string {
	if e.Instead == "" {
		return e.Detail
	}
	return e.Detail + "; " + e.Instead
}

// maxAnswerBytes is how much of an answer is read.
const maxAnswerBytes = 64 << 20

// Call sends a request and reads the answer into out. What the server says instead of one is a
// [*ServerError]; any other error says nothing about whether the request has reached it.
func (s *Server) Call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Accept", "application/json")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxAnswerBytes:
		return fmt.Errorf("the answer is longer than %d bytes", maxAnswerBytes)
	case response.StatusCode < 200 || response.StatusCode > 299:
		return problem(response, text)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(out)
}

// problem reads what a server says instead of an answer.
func problem(response *http.Response, text []byte) error {
	out := &ServerError{}
	if json.Unmarshal(text, out) != nil || out.Detail == "" {
		out = &ServerError{Kind: "unexpected", Detail: response.Status}
	}
	// Nothing of it moves the cursor of a terminal.
	out.Kind, out.Detail, out.Instead = render.Clean(out.Kind), render.Clean(out.Detail), render.Clean(out.Instead)
	if out.Kind == "denied" { // what the server suggests is for those who write headers
		out.Instead = "'discreet user token' makes another one"
	}
	out.status = response.StatusCode
	if n, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && n >= 0 && n < 3600 {
		out.after = time.Duration(n) * time.Second
	}
	return out
}
