package users

import (
	"errors"
	"testing"
)

// A name beyond ASCII is one name, in whatever form it comes, at both doors: it lets in, and what
// was tried under one form counts for the other. Names that nobody has behave as those do.
func TestNamesBeyondASCII(t *testing.T) {
	f := setUp(t)
	password, err := f.Add(ctx, "josé", Analyst, "")
	must(t, err)
	for _, name := range []string{"josé", "jose\u0301"} {
		if u, err := login(f.Store, from(name, home), password); err != nil || u.Name != "josé" {
			t.Errorf("%q by SCRAM: %v %v", name, u, err)
		}
		if u, err := f.Password(ctx, from(name, home), password); err != nil || u.Name != "josé" {
			t.Errorf("%q by password: %v %v", name, u, err)
		}
	}
	if _, err := f.Add(ctx, "jose\u0301", Analyst, ""); err == nil {
		t.Error("two users look alike")
	}
	// The same number of failures locks out who exists and who does not, under one form or two.
	tries := func(names ...string) int {
		for n := 1; n < 100; n++ {
			_, err := login(f.Store, from(names[n%len(names)], "10.0.0.9"), "wrong password")
			var locked *LockedError
			if errors.As(err, &locked) {
				return n
			}
			if !errors.Is(err, ErrDenied) {
				t.Fatalf("%q: %v", names, err)
			}
		}
		return 0
	}
	want := tries("ana")
	for _, names := range [][]string{{"josé", "jose\u0301"}, {"rené", "rene\u0301"}, {"\u202enobody"}} {
		if got := tries(names...); got != want || want == 0 {
			t.Errorf("%q: locked out after %d, and ana after %d", names, got, want)
		}
	}
}
