package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"time"

	"github.com/discreet-dp/discreet/internal/server/clientlimits"
	"github.com/discreet-dp/discreet/internal/server/openid"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Config says what a server serves, where, and how much it puts up with. Zero limits mean sensible
// ones.
type Config struct {
	// Policy is the owner's file, and Users the file of those who may come in, or the address of
	// the database that has them; beside the ledger where none is named.
	Policy, Users string
	// Listen is the address for PostgreSQL's clients, and HTTP that for programs; either may be
	// empty, and then there is no such listener.
	Listen, HTTP string
	// Web is a listener for HTTP that is open already, in the place of the address HTTP: for a
	// program that started this process, and nobody else.
	Web net.Listener
	// Immediate lets answers leave as soon as they are there where the policy does not say when:
	// for whoever has the data on this machine, as [discreet.DB] and 'discreet query' do.
	Immediate bool
	// Certificate and Key are files in PEM. Both or none.
	Certificate, Key string
	// TrustProxy are the networks and addresses of proxies that say for whom they connect, with
	// commas between them; see [clientaddr.Listen] and [clientaddr.Trusted.OfRequest].
	TrustProxy string
	// Plaintext allows addresses that others can reach without TLS, because something in front
	// encrypts.
	Plaintext bool

	// Running, Waiting, Timeout, Rate and Patience are the dispatcher's: see [admission.Options].
	Running  int
	Waiting  int
	Timeout  time.Duration
	Rate     int
	Patience time.Duration // below 0 none
	// Connections is how many there may be at each listener; 0 means 1000.
	Connections int
	// Ends are when sessions of browsers end by themselves: see [users.Ends].
	Ends users.Ends
	// OpenID is the provider that people can sign in with; without an issuer there is none.
	OpenID openid.Config
	// Demo says that the data is made up, which the page tells.
	Demo bool
	// Memory and Threads limit the engine of each dataset: see [discreet.WithMemory].
	Memory  string
	Threads int

	// FullCheck and Progress are the library's: see [discreet.WithFullCheck] and
	// [discreet.WithProgress].
	FullCheck bool
	Progress  func(what string, done, of int64)

	// Log gets everything that happens; nil means nobody. Texts says whether the texts of questions
	// are in it.
	Log   *slog.Logger
	Texts bool
	// Version is what clients are told.
	Version string
	// Notify is a program that is run when an analyst asks for more budget or the owner answers,
	// with the event as JSON on its standard input; empty means none.
	Notify string

	patience time.Duration // in tests, for a client of HTTP to take what is sent
	trusted  clientlimits.Trusted
}

// check refuses what cannot be meant.
func (c *Config) check() (err error) {
	switch {
	case c.Policy == "":
		return errors.New("name a policy file; none was given")
	case c.Listen == "" && c.HTTP == "" && c.Web == nil:
		return errors.New("there is nothing to listen on: name an address for PostgreSQL clients, for HTTP, or both")
	case c.Certificate != "" && c.Key == "":
		return fmt.Errorf("the certificate %s has no key: name its key file too", c.Certificate)
	case c.Key != "" && c.Certificate == "":
		return fmt.Errorf("the key %s has no certificate: name the certificate file too", c.Key)
	}
	for _, limit := range []struct {
		name string
		is   int64
	}{{"running", int64(c.Running)}, {"waiting", int64(c.Waiting)},
		{"rate", int64(c.Rate)}, {"connections", int64(c.Connections)}, {"threads", int64(c.Threads)},
		{"timeout", int64(c.Timeout)}, {"session-idle", int64(c.Ends.Idle)}, {"session-length", int64(c.Ends.Whole)}} {
		if limit.is < 0 {
			return fmt.Errorf("the limit %s is below 0; write a larger one, or 0 for the default", limit.name)
		}
	}
	if c.Notify != "" {
		if _, err := exec.LookPath(c.Notify); err != nil {
			return fmt.Errorf("notify: %w; name a program that can be run, without arguments", err)
		}
	}
	if c.trusted, err = clientlimits.ParseTrusted(c.TrustProxy); err != nil {
		return fmt.Errorf("trust-proxy: %w", err)
	}
	if c.OpenID.Issuer != "" {
		if err := c.OpenID.Check(); err != nil {
			return err
		}
	} else if c.OpenID.Client != "" {
		return errors.New("an OpenID client was given without a provider: name its issuer too")
	}
	if c.Ends.Whole > users.LongestVisit {
		return errors.New("the limit session-length is above 30 days, the longest that anybody stays signed in; write a smaller one")
	}
	if c.Connections == 0 {
		c.Connections = 1000
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// perAddress is how many connections one address may have at a listener.
func (c *Config) perAddress() int { return min(c.Connections, max(4, c.Connections/5)) }
