package trinotables

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	trino "github.com/trinodb/trino-go-client/trino"

	"github.com/discreet-dp/discreet/internal/address"
	"github.com/discreet-dp/discreet/internal/releaseclock"
)

// ClientName is what Trino knows our statements by, in its list of queries and in the selectors of
// resource groups. Each has this as a client tag, too.
const ClientName = "discreet"

// sessionProperties is what statements run with. Nothing else sets a property: not an address,
// which has no option for it, and no statement, because none of ours is SET SESSION.
//
// optimize_metadata_queries takes values of a partition from its name, whether or not there is a
// row in it. The other would hide the digits of timestamps in the types of columns.
var sessionProperties = map[string]string{"optimize_metadata_queries": "false", "omit_datetime_type_precision": "false"}

// ByPerson are properties of statements that group by person, which set them for themselves; see
// internal/engine/trino. They change how long it takes, and nothing that comes of it.
const ByPerson = "prefer_partial_aggregation = false, task_concurrency = 32"

// Properties names all properties that are set for statements.
func Properties() []string {
	all := slices.Sorted(maps.Keys(sessionProperties))
	for p := range strings.SplitSeq(ByPerson, ", ") {
		name, _, _ := strings.Cut(p, " ")
		all = append(all, name)
	}
	return all
}

// patience is how long a server may take to be connected to, and how long one that has gone away in
// the middle of a statement is looked for. silence is how long it may take to begin an answer:
// Trino answers within seconds, and says that there is nothing yet.
const patience, silence = 15 * time.Second, 60 * time.Second

// Cluster is a cluster, and a catalog of it.
type Cluster struct {
	address.Trino
	transport *guardedTransport
}

// Parse reads an address. The error says what is wrong with it or with the files that it names, in
// words that follow "the address". Nothing is connected to.
func Parse(text string) (*Cluster, error) {
	at, err := address.ParseTrino(text)
	if err != nil {
		return nil, err
	}
	p := &Cluster{Trino: at}
	p.transport, err = newTransport(at)
	return p, err
}

func (p *Cluster) String() string { return p.Where() }

// Open returns a handle. Nothing is connected to before it is used. The tags are beside our own, so
// that an administrator can tell datasets apart.
func (p *Cluster) Open(tags ...string) (*sql.DB, error) {
	scheme := "https"
	if p.Plain {
		scheme = "http"
	}
	long, noDeadline := patience, time.Duration(1<<62)
	server := url.URL{Scheme: scheme, User: url.User(p.User), Host: net.JoinHostPort(p.Host, p.Port)}
	c, err := trino.NewConnector(&trino.Config{
		ServerURI: server.String(), Catalog: p.Catalog, Schema: p.Schema, Source: ClientName,
		ClientTags: append([]string{ClientName}, tags...), SessionProperties: sessionProperties, TimeZone: "UTC", Language: "en",
		HTTPClient: &http.Client{Transport: p.transport},
		// How long a question may take is for who asks it to say.
		RequestRetryTimeout: &long, QueryTimeout: &noDeadline, DisableExplicitPrepare: true,
	})
	if err != nil {
		// What the driver says may repeat parts of the address.
		return nil, fmt.Errorf("the address of the Trino cluster cannot be used; write %s", address.WantTrino)
	}
	return sql.OpenDB(&connector{c, p.transport}), nil
}

// connector closes the connections with the handle.
type connector struct {
	driver.Connector
	transport *guardedTransport
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	return c.Connector.Connect(ctx)
}

func (c *connector) Close() error {
	c.transport.to.CloseIdleConnections()
	return nil
}

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
			return nil, errors.New("names files under sslcert and sslkey that cannot be read, or are not a certificate with its key")
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	w.to = &http.Transport{DialContext: (&net.Dialer{Timeout: patience}).DialContext, TLSClientConfig: secure, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: patience, ResponseHeaderTimeout: silence, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
	_, err := w.secret()
	return w, err
}

var errElsewhere = errors.New("it answers with an address that is not its own, or is not encrypted; if there is a proxy in front of " +
	"the coordinator, set http-server.process-forwarded=true there, and write the address at which it is reached")

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

// countWork has an answer of the server tell, while it is read, for how long processors have worked
// for its statement, where the context of the request counts it. The driver has a callback for that
// which leaves out some answers, and may be called when the rows are read already.
func countWork(r *http.Request, answer *http.Response) {
	if w := releaseclock.WorkOf(r.Context()); w != nil {
		id := ""
		if of := statement.FindStringSubmatch(r.URL.Path); of != nil {
			id = of[1]
		}
		answer.Body = &counted{answer.Body, nil, func(d time.Duration) { w.Worked(id, d) }}
	}
}

type counted struct {
	io.ReadCloser
	rest []byte // of what was read, that may be the beginning of the field
	tell func(time.Duration)
}

// processorTime is the field of an answer. Trino has one of the statement and one of each of its
// stages, of which the statement's is the largest. In a text of the answer a quotation mark has a
// backslash before it, so none can look like it.
const processorTime = `"cpuTimeMillis":`

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.rest = append(c.rest, p[:n]...)
	for {
		at := bytes.Index(c.rest, []byte(processorTime))
		if at < 0 {
			c.rest = c.rest[max(0, len(c.rest)-len(processorTime)):]
			break
		}
		digits := c.rest[at+len(processorTime):]
		end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			c.rest = c.rest[at:]
			break
		}
		if ms, err := strconv.ParseInt(string(digits[:end]), 10, 64); err == nil {
			c.tell(time.Duration(ms) * time.Millisecond)
		}
		c.rest = digits[end:]
	}
	return n, err
}
