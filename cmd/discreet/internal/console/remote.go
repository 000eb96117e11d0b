package console

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger"
)

// ServerFlags name a server that runs, in the place of a policy.
type ServerFlags struct {
	Server    string `help:"A server that runs, such as https://db.example:8432, in the place of a policy: it has the ledger." placeholder:"URL"`
	TokenFile string `help:"The file of an owner's token, for --server." placeholder:"FILE"`
}

// Client speaks to a server for its owner. The owner's key stays here.
type Client struct {
	base, token string
	http        *http.Client
}

// Open returns the server, or nil where none is named: then there has to be a policy.
func (f ServerFlags) Open(policy string) (*Client, error) {
	switch {
	case f.Server == "" && policy == "":
		return nil, Misuse(errors.New("name a policy with --policy, or a server that runs with --server"))
	case f.Server == "":
		return nil, nil
	case policy != "":
		return nil, Misuse(errors.New("name a policy or a server, and not both: a server that runs has a policy"))
	case f.TokenFile == "":
		return nil, Misuse(errors.New("--server needs --token-file, with a token of an owner: 'discreet user token' makes one"))
	}
	u, err := url.Parse(f.Server)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" {
		return nil, Misuse(fmt.Errorf("--server %q is no address such as https://db.example:8432", f.Server))
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, Misuse(errors.New("--server without TLS is for this machine alone: everybody on the way could read the token"))
	}
	token, err := os.ReadFile(f.TokenFile)
	if err != nil {
		return nil, Misuse(err)
	}
	// A redirection would carry the token elsewhere.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Timeout: time.Minute, CheckRedirect: stay}
	return &Client{u.Scheme + "://" + u.Host, strings.TrimSpace(string(token)), client}, nil
}

// ServerError is what a server said instead of an answer.
type ServerError struct{ Kind, Detail, Instead string }

func (e *ServerError) Error() string {
	text := "the server says: " + table.Clean(e.Detail)
	if e.Instead != "" {
		text += "; " + table.Clean(e.Instead)
	}
	return text
}

// mostRead is how much of an answer is read.
const mostRead = 64 << 20

// Call sends a request and reads the answer into out.
func (c *Client) Call(ctx context.Context, method, at string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+at, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostRead))
	if err != nil {
		return err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		problem := &ServerError{Detail: response.Status}
		if json.Unmarshal(text, problem) != nil || problem.Detail == "" {
			problem.Detail = response.Status
		}
		return problem
	}
	return json.Unmarshal(text, out)
}

// Dataset returns the name of a dataset: the only one, where none is named.
func (c *Client) Dataset(ctx context.Context, name string) (string, error) {
	if name != "" {
		return url.PathEscape(name), nil
	}
	var all struct{ Datasets []string }
	if err := c.Call(ctx, http.MethodGet, "/v1/datasets", nil, &all); err != nil {
		return "", err
	}
	if len(all.Datasets) != 1 {
		return "", Misuse(fmt.Errorf("name one with --dataset: %s", strings.Join(all.Datasets, ", ")))
	}
	return url.PathEscape(all.Datasets[0]), nil
}

// tries is how often something is drafted again that another record came before.
const tries = 20

// Sign has something drafted, signs it here, and has it written. What is signed is read first: it
// has to be a record of the kind that was asked for, with the reason that was given.
func (c *Client) Sign(ctx context.Context, at string, in map[string]any, kind ledger.Kind, key ed25519.PrivateKey, out any) error {
	var err error
	for range tries {
		var drafted struct{ Draft struct{ Text string } }
		if err = c.Call(ctx, http.MethodPost, at+"/draft", in, &drafted); err != nil {
			return err
		}
		text := drafted.Draft.Text
		var r ledger.Record
		if r.DecodeSigned(text) != nil || r.Kind != kind || r.Reason != in["reason"] {
			return errors.New("the server has drafted something else than what was asked for; nothing was signed")
		}
		signed := maps.Clone(in)
		signed["text"], signed["signature"] = text, hex.EncodeToString(ed25519.Sign(key, []byte(text)))
		var problem *ServerError
		if err = c.Call(ctx, http.MethodPost, at, signed, out); !errors.As(err, &problem) || problem.Kind != "stale" {
			return err
		}
	}
	return err
}
