package console

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type LedgerFlags struct {
	Policy string `help:"The policy file; its ledger is read." placeholder:"FILE" short:"p"`
	File   string `arg:"" optional:"" help:"The ledger file, or its address postgres://..., if you give no policy."`
}

// Read opens the ledger for reading. The policy is nil where only a file was named.
func (f LedgerFlags) Read() (openledger.Reader, *policy.Policy, error) {
	if (f.File == "") == (f.Policy == "") {
		return nil, nil, Misuse(errors.New("name either a ledger file, or a policy with --policy, not both"))
	}
	if f.Policy == "" {
		if looksLikePolicy(f.File) {
			return nil, nil, Misuse(fmt.Errorf("%s is not a ledger; did you mean --policy %s?", f.File, f.File))
		}
		r, err := openledger.Read(f.File)
		return r, nil, err
	}
	p, err := policy.Load(f.Policy)
	if err != nil {
		return nil, nil, err
	}
	r, err := openledger.Read(p.Ledger)
	return r, p, err
}

// looksLikePolicy reports whether a file is there that is named as policies are, and is nothing
// that a ledger could be.
func looksLikePolicy(path string) bool {
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) != magic
}

// DescribeColumn says what can be asked of a column, as the cells of a row.
func DescribeColumn(of *policy.Table, c *policy.Column) []string {
	a := policywords.Column(of, c)
	return []string{of.Name, c.Name, a.Type, a.Bounds, a.Keys, a.Sum, a.Group}
}

// ServerFlags name a server that runs, in the place of a policy.
type ServerFlags struct {
	Server    string `help:"The running server that has the ledger, such as https://db.example:8432; give it instead of a policy." placeholder:"URL"`
	TokenFile string `help:"The file with your token for --server; tasks of an owner need an owner's token." placeholder:"FILE"`
}

// Client speaks to a server in the name of who has the token. An owner's key stays here.
type Client struct{ server *client.Server }

// Open returns the server, or nil where none is named: then there has to be a policy.
func (f ServerFlags) Open(policy string) (*Client, error) {
	switch {
	case f.Server == "" && policy == "":
		return nil, Misuse(errors.New("name a policy with --policy, or a running server with --server"))
	case f.Server == "":
		return nil, nil
	case policy != "":
		return nil, Misuse(errors.New("name either a policy or a server, not both: a running server has a policy"))
	case f.TokenFile == "":
		return nil, Misuse(errors.New("--server needs --token-file with a token; 'discreet user token' makes one"))
	}
	token, err := os.ReadFile(f.TokenFile)
	if err != nil {
		return nil, Misuse(err)
	}
	server, err := client.New(f.Server, string(token))
	switch {
	case err != nil:
		return nil, Misuse(fmt.Errorf("--server: %w", err))
	case server.Dataset != "":
		return nil, Misuse(fmt.Errorf("--server %q is not an address; write one such as https://db.example:8432", f.Server))
	}
	return &Client{server}, nil
}

// callTimeout is how long a server may take.
const callTimeout = time.Minute

// Server is the same server, for who waits for as long as an answer takes.
func (c *Client) Server() *client.Server { return c.server }

// Call sends a request and reads the answer into out.
func (c *Client) Call(ctx context.Context, method, at string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := c.server.Call(ctx, method, at, in, out)
	if errors.As(err, new(*client.ServerError)) {
		return fmt.Errorf("the server says: %w", err)
	}
	return err
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

// maxSignAttempts is how often something is drafted again where another owner was first.
const maxSignAttempts = 5

// Sign has something drafted, signs it here, and has it written. What is signed is read first: it
// has to be a record of the kind that was asked for, with the reason that was given.
func (c *Client) Sign(ctx context.Context, at string, in map[string]any, kind ledger.Kind, key ed25519.PrivateKey, out any) error {
	var err error
	for range maxSignAttempts {
		var drafted struct{ Draft struct{ Text string } }
		if err = c.Call(ctx, http.MethodPost, at+"/draft", in, &drafted); err != nil {
			return err
		}
		text := drafted.Draft.Text
		var r ledger.Record
		if r.DecodeSigned(text) != nil || r.Kind != kind || r.Reason != in["reason"] {
			return errors.New("the server drafted something other than what you asked for; nothing was signed")
		}
		signed := maps.Clone(in)
		signed["text"], signed["signature"] = text, hex.EncodeToString(ed25519.Sign(key, []byte(text)))
		var problem *client.ServerError
		if err = c.Call(ctx, http.MethodPost, at, signed, out); !errors.As(err, &problem) || problem.Kind != "stale" {
			return err
		}
	}
	return err
}
