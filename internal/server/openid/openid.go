// Package openid asks an OpenID Connect provider who somebody is: authorization code with PKCE,
// state and nonce. It keeps nothing between the two steps; what a browser has to bring back is in
// what it is given.
package openid

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// Config names a provider, and how what it says becomes the name of a user.
type Config struct {
	Issuer, Client, Secret string
	// Claim is what the name of a user is read from: email, preferred_username, sub or another that
	// is a text. An email has to be verified.
	Claim string
	// Domain, where it is given, is what the claim has to end with after an @; the part before it
	// is the name.
	Domain string
	// Name is what people call the provider.
	Name string
}

// Check refuses what cannot be meant, and fills in what is usual.
func (c *Config) Check() error {
	u, err := url.Parse(c.Issuer)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("the issuer %q is not an address; write one such as https://login.example.org", c.Issuer)
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return fmt.Errorf("the issuer %s does not use https, so anybody in between could claim to be any user; use its https "+
			"address", c.Issuer)
	case c.Client == "":
		return errors.New("the client id at the OpenID provider is missing")
	}
	if c.Claim == "" {
		c.Claim = "email"
	}
	if c.Name == "" {
		c.Name = u.Hostname()
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Provider is one that is asked. It is safe for concurrent use.
type Provider struct {
	config Config
	client *http.Client
	now    func() time.Time

	mu         sync.Mutex
	provider   *oidc.Provider // nil until it was found
	verifier   *oidc.IDTokenVerifier
	failed     error                // why it was not found a moment ago
	retryAt    time.Time            // before which it is not looked for again
	usedStates map[string]time.Time // states that came back, until they expire
	slots      chan struct{}        // so many are asked about at once: strangers choose how many come
}

// New returns a provider, which is looked for when somebody first signs in.
func New(c Config) (*Provider, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &Provider{config: c, client: &http.Client{Timeout: 10 * time.Second}, now: time.Now, usedStates: map[string]time.Time{},
		slots: make(chan struct{}, 8)}, nil
}

func (p *Provider) Name() string { return p.config.Name }

// algorithms are those of signatures that only the provider can make: none is not among them, nor
// is one with a key that the client has too.
var algorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512,
	oidc.EdDSA}

// find looks for the provider, once it answers. The keys are fetched with a client of ours for as
// long as the process runs, and not with the context of who happens to be first.
func (p *Provider) find() (*oidc.Provider, *oidc.IDTokenVerifier, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.provider == nil && p.now().Before(p.retryAt) {
		return nil, nil, p.failed
	}
	if p.provider == nil {
		found, err := oidc.NewProvider(oidc.ClientContext(context.Background(), p.client), p.config.Issuer)
		if err != nil {
			p.failed, p.retryAt = fmt.Errorf("asking the OpenID provider %s failed: %w", p.config.Issuer, err), p.now().Add(5*time.Second)
			return nil, nil, p.failed
		}
		p.provider = found
		p.verifier = found.Verifier(&oidc.Config{ClientID: p.config.Client, SupportedSigningAlgs: algorithms, Now: p.now})
	}
	return p.provider, p.verifier, nil
}

func (p *Provider) oauth(found *oidc.Provider, redirect string) *oauth2.Config {
	scopes := []string{oidc.ScopeOpenID}
	switch p.config.Claim {
	case "sub":
	case "email":
		scopes = append(scopes, "email")
	default:
		scopes = append(scopes, "profile", "email")
	}
	return &oauth2.Config{ClientID: p.config.Client, ClientSecret: p.config.Secret, Endpoint: found.Endpoint(), RedirectURL: redirect,
		Scopes: scopes}
}

// SignInTimeout is how long somebody may take at the provider.
const SignInTimeout = 10 * time.Minute

// Begin returns where to send a browser, and what it has to bring back beside what the provider
// gives it.
func (p *Provider) Begin(redirect string) (to, keep string, err error) {
	found, _, err := p.find()
	if err != nil {
		return "", "", err
	}
	state, nonce, verifier := drawState(), drawState(), oauth2.GenerateVerifier()
	to = p.oauth(found, redirect).AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))
	return to, fmt.Sprintf("%s.%s.%s.%d", state, nonce, verifier, p.now().Add(SignInTimeout).Unix()), nil
}

func drawState() string {
	source := entropy.New()
	return source.Name() + source.Name()
}

// ErrState: what came back is not what was begun in this browser, or came back before.
var ErrState = errors.New("the state is not that of this browser, has expired, or was used before")

// Finish returns the name of whom the provider vouches for. Any error is for the owner's log.
func (p *Provider) Finish(ctx context.Context, redirect, keep, state, issuer, code string) (name string, err error) {
	parts := strings.Split(keep, ".")
	if len(parts) != 4 || state == "" || subtle.ConstantTimeCompare([]byte(parts[0]), []byte(state)) != 1 || !p.takeState(state, parts[3]) {
		return "", ErrState
	}
	if issuer != "" && issuer != p.config.Issuer { // RFC 9207
		return "", errors.New("a different issuer sent the browser back")
	}
	if code == "" {
		return "", errors.New("the provider gave no code")
	}
	found, verifier, err := p.find()
	if err != nil {
		return "", err
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := p.oauth(found, redirect).Exchange(ctx, code, oauth2.VerifierOption(parts[2]))
	if err != nil {
		return "", errors.New("the provider did not accept the code") // its words may hold anything
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return "", errors.New("the provider gave no ID token")
	}
	token, err := verifier.Verify(ctx, raw)
	if err != nil {
		return "", fmt.Errorf("the ID token is not valid: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(parts[1])) != 1 {
		return "", errors.New("the nonce of the ID token is not the one that was sent")
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		return "", errors.New("the claims of the ID token cannot be read")
	}
	return p.config.name(claims)
}

// takeState reports whether a state comes back in time and for the first time.
func (p *Provider) takeState(state, until string) bool {
	var at int64
	if _, err := fmt.Sscan(until, &at); err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for old, end := range p.usedStates {
		if now.After(end) {
			delete(p.usedStates, old)
		}
	}
	_, before := p.usedStates[state]
	end := time.Unix(at, 0)
	if before || !now.Before(end) || end.Sub(now) > SignInTimeout {
		return false
	}
	if len(p.usedStates) >= maxUsedStates { // of strangers: what holds then is that a provider takes a code once
		clear(p.usedStates)
	}
	p.usedStates[state] = end
	return true
}

// maxUsedStates is how many states that came back are remembered.
const maxUsedStates = 10_000

// name reads the name of a user off the claims. What is not there, or is no text, is refused.
func (c Config) name(claims map[string]any) (string, error) {
	value, ok := claims[c.Claim].(string)
	if !ok || value == "" {
		return "", fmt.Errorf("the ID token has no text in the claim %s", c.Claim)
	}
	if verified, ok := claims["email_verified"].(bool); c.Claim == "email" && !(ok && verified) {
		return "", errors.New("the provider has not verified this email")
	}
	if c.Domain == "" {
		return value, nil
	}
	local, domain, ok := strings.Cut(value, "@") // the first: nobody is called somebody@elsewhere in this domain
	// Letters that fold to those of ASCII and are others, as the sign for Kelvin does, have more
	// bytes.
	if !ok || local == "" || len(domain) != len(c.Domain) || !strings.EqualFold(domain, c.Domain) {
		return "", fmt.Errorf("the claim %s is not in the domain %s", c.Claim, c.Domain)
	}
	return local, nil
}
