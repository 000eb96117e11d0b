package users

import (
	"strings"
	"testing"
	"time"
)

// FuzzExchange lets a client say what it likes: without the password nobody comes in.
func FuzzExchange(f *testing.F) {
	for _, seed := range [][2]string{
		{"n,,n=,r=abc", "c=biws,r=abc,p=AAAA"}, {"y,,n=ana,r=abc", "c=eSws,r=NONCE,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
		{"p=tls-server-end-point,,n=,r=x", "c=,r=NONCE,p="}, {"n,a=ana,n=,r=x", ""}, {"n,,m=x,n=,r=", "c=biws,r=NONCE,m=x,p=AAAA"},
		{",,,", ",,,"}, {"\x00", "\xff"},
		{"n,,n==2C=3D,r=abc,x=y", "c=biws,r=NONCE,p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
	} {
		for _, name := range []string{"ana", "bob", ""} {
			f.Add(name, seed[0], seed[1])
		}
	}
	store := setUp(f)
	f.Fuzz(func(t *testing.T, name, first, final string) {
		store.turn(longestWait)
		a := from(name, home)
		if len(name)%2 == 1 {
			a.Endpoint = "certificate"
		}
		e, err := store.Exchange(ctx, a)
		if err != nil {
			t.Skip(err)
		}
		defer e.Close()
		reply, done, err := e.Step(ctx, first)
		if done || e.User() != (User{}) || (err == nil) != strings.HasPrefix(reply, "r=") {
			t.Fatalf("%q: %q, %v, %v", first, reply, done, err)
		}
		// A text cannot know the nonce; NONCE is it.
		nonce, _, _ := strings.Cut(strings.TrimPrefix(reply, "r="), ",s=")
		for range 2 {
			reply, done, err = e.Step(ctx, strings.ReplaceAll(final, "NONCE", nonce))
			if done || err == nil || reply != "" || e.User() != (User{}) {
				t.Fatalf("%q, %q: %q, %v, %v", first, final, reply, done, err)
			}
		}
	})
}

// FuzzToken looks up texts: only the token is one.
func FuzzToken(f *testing.F) {
	store := setUp(f)
	secret, token, err := store.NewToken(ctx, "ana", "", time.Time{})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"SECRET", "SECRET ", "dsc_ID_" + strings.Repeat("0", secretLength), "dsc_ID", "dsc__", "", "\x00",
		"dsc_%_", strings.Repeat("_", tokenLength)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "SECRET", secret), "ID", token.ID)
		if id, ok := readToken(text); ok && (len(id) != idLength || !strings.HasPrefix(text, "dsc_"+id+"_")) || !ok && id != "" {
			t.Fatalf("%q has the id %q, %v", text, id, ok)
		}
		u, err := store.Token(ctx, Attempt{Address: home, Listener: "http"}, text)
		if (err == nil) != (text == secret) || (err == nil) != (u.Name == "ana") {
			t.Fatalf("%q: %+v, %v", text, u, err)
		}
	})
}
