package openid

import (
	"strconv"
	"testing"
	"time"
)

// What cannot be meant is refused, and what is usual is filled in.
func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Client: "x"}, {Issuer: "login.example.org", Client: "x"}, {Issuer: "http://login.example.org", Client: "x"},
		{Issuer: "https://login.example.org"}, {Issuer: "https://login.example.org?a=b", Client: "x"},
		{Issuer: "ftp://127.0.0.1", Client: "x"},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	c := Config{Issuer: "https://login.example.org/realms/x", Client: "x"}
	if err := c.Check(); err != nil || c.Claim != "email" || c.Name != "login.example.org" {
		t.Errorf("%+v, %v", c, err)
	}
}

// A name is what the claim says, of the domain alone, where a provider has verified it.
func TestName(t *testing.T) {
	for _, test := range []struct {
		config Config
		claims map[string]any
		want   string
	}{
		{Config{Claim: "email"}, map[string]any{"email": "ana@a.example", "email_verified": true}, "ana@a.example"},
		{Config{Claim: "email"}, map[string]any{"email": "ana@a.example", "email_verified": "true"}, ""},
		{Config{Claim: "email"}, map[string]any{"email": "ana@a.example"}, ""},
		{Config{Claim: "sub"}, map[string]any{"sub": "ana"}, "ana"},
		{Config{Claim: "sub"}, map[string]any{"sub": 7.0}, ""},
		{Config{Claim: "sub"}, nil, ""},
		{Config{Claim: "sub", Domain: "bank.example"}, map[string]any{"sub": "ana@Bank.example"}, "ana"},
		{Config{Claim: "sub", Domain: "bank.example"}, map[string]any{"sub": "ana@ban\u212a.example"}, ""}, // the sign for Kelvin
		{Config{Claim: "sub", Domain: "bank.example"}, map[string]any{"sub": "ana@elsewhere@bank.example"}, ""},
		{Config{Claim: "sub", Domain: "bank.example"}, map[string]any{"sub": "@bank.example"}, ""},
	} {
		if got, err := test.config.name(test.claims); got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%v of %+v is %q, %v", test.claims, test.config, got, err)
		}
	}
}

// A state comes back once, in time, and not from the far future.
func TestTakeState(t *testing.T) {
	p, err := New(Config{Issuer: "https://login.example.org", Client: "x"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_700_000_000, 0)
	p.now = func() time.Time { return now }
	until := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	for _, test := range []struct {
		state, until string
		want         bool
	}{
		{"a", until(time.Minute), true}, {"a", until(time.Minute), false}, {"b", until(-time.Second), false},
		{"c", until(SignInTimeout + time.Second), false}, {"d", "soon", false}, {"e", until(SignInTimeout), true},
	} {
		if got := p.takeState(test.state, test.until); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	now = now.Add(2 * SignInTimeout)
	if p.takeState("f", until(time.Second)); len(p.usedStates) != 1 {
		t.Errorf("%d states are remembered", len(p.usedStates))
	}
}
