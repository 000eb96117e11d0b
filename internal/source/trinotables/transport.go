package trinotables

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/address"
)

// guardedTransport is the way of every request. Trino says itself where the next part of an answer
// is, and the driver would go there with all that says who we are. Requests go to the server of the
// address alone, but for parts of an answer that the cluster has put into its own storage: these go
// out without a name, a password or a token, encrypted, and only to read.
//
// It adds the password or the token to what goes to the server, and reads them anew each time, so
// that one that expires can be replaced under a server that runs.
type guardedTransport struct {
	at     address.Trino
	scheme string
	host   string // and its port
	to     *http.Transport
	// coordinator is what the last statement was named after.
	coordinator atomic.Pointer[string]
}

func newTransport(at address.Trino) (*guardedTransport, error) {
	w := &guardedTransport{at: at, scheme: "https", host: net.JoinHostPort(at.Host, at.Port)}
	if at.Plain {
		w.scheme = "http"
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12}
	if at.Root != "" {
		text, err := os.ReadFile(at.Root)
		secure.RootCAs = x509.NewCertPool()
		if err != nil || !secure.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("names a file under sslrootcert that cannot be read, or has no certificate in it")
		}
	}
	if at.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(at.Certificate, at.Key)
		if err != nil {
			return nil, errors.New("names files under sslcert and sslkey that cannot be read, or are no certificate with its key")
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	w.to = &http.Transport{DialContext: (&net.Dialer{Timeout: patience}).DialContext, TLSClientConfig: secure, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: patience, ResponseHeaderTimeout: silence, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	_, err := w.secret()
	return w, err
}

var errElsewhere = errors.New("it answers with an address that is not its own, or not encrypted; where something stands before the " +
	"coordinator, set http-server.process-forwarded=true there, and write the address under which it is reached")

var errToken = errors.New("names a file with a password or a token that cannot be read, is empty, or has more than one line")

func (w *guardedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	own := r.URL.Scheme == w.scheme && strings.EqualFold(hostPort(r), w.host)
	if own {
		secret, err := w.secret()
		if err != nil {
			return nil, err
		}
		if secret != nil {
			secret(r)
		}
		if of := statement.FindStringSubmatch(r.URL.Path); of != nil {
			w.coordinator.Store(&of[2])
		}
	} else if err := w.apart(r); err != nil {
		return nil, err
	}
	answer, err := w.to.RoundTrip(r)
	var dial *net.OpError
	if err != nil && r.Method == http.MethodPost && errors.As(err, &dial) && dial.Op == "dial" {
		// The driver would try for as long as it looks for one that has gone away. Nothing has
		// begun, so it is better to say so at once.
		return nil, &absent{err.Error()}
	}
	if err == nil && own {
		countWork(r, answer)
	}
	return answer, err
}

// statement is where the next part of an answer is. Trino numbers its statements, by the time, and
// behind it has what its coordinator drew when it was started.
var statement = regexp.MustCompile(`^/v1/statement/[a-z]+/(\d{8}_\d{6}_\d{5,}_([a-z0-9]{5}))/`)

// Coordinator is what the coordinator that answered the last statement was named when it was
// started, 25 bits that it drew; or nothing. It is the same under all names and ports.
func (p *Cluster) Coordinator() string {
	if name := p.transport.coordinator.Load(); name != nil {
		return *name
	}
	return ""
}

// absent is that nobody is there, in words, and no kind of error that the driver knows.
type absent struct{ text string }

func (a *absent) Error() string { return a.text }

// apart refuses what would tell another server who we are, or could be read on the way to it.
func (w *guardedTransport) apart(r *http.Request) error {
	for name := range r.Header {
		if name == "Authorization" || name == "X-Trino-User" || name == "X-Trino-Extra-Credential" {
			return errElsewhere
		}
	}
	secure := r.URL.Scheme == "https" || w.at.Plain && address.IsHere(r.URL.Hostname())
	if r.Method != http.MethodGet || !secure {
		return errElsewhere
	}
	return nil
}

// hostPort is the host of a request with its port.
func hostPort(r *http.Request) string {
	if r.URL.Port() != "" {
		return net.JoinHostPort(r.URL.Hostname(), r.URL.Port())
	}
	return net.JoinHostPort(r.URL.Hostname(), map[string]string{"http": "80", "https": "443"}[r.URL.Scheme])
}

// secret says how a request tells who we are.
func (w *guardedTransport) secret() (func(*http.Request), error) {
	switch {
	case w.at.Plain:
		return nil, nil
	case w.at.TokenFile != "":
		token, err := readSecret(w.at.TokenFile)
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }, err
	case w.at.PasswordFile != "":
		password, err := readSecret(w.at.PasswordFile)
		return func(r *http.Request) { r.SetBasicAuth(w.at.User, password) }, err
	}
	password, ok := os.LookupEnv(address.PasswordVariable)
	if !ok || password == "" {
		return nil, nil
	}
	return func(r *http.Request) { r.SetBasicAuth(w.at.User, password) }, nil
}

// readSecret reads the one line of a file.
func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	secret := strings.TrimRight(string(text), "\r\n")
	if err != nil || secret == "" || strings.ContainsAny(secret, "\r\n\x00") || len(secret) > 1<<16 {
		return "", errToken
	}
	return secret, nil
}
