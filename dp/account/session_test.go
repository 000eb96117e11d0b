package account_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

// Which guarantees may pay for a session is for the compiler to say, so the compiler is asked.
func TestOnlyPureAndZCDPOpenSessions(t *testing.T) {
	for program, compiles := range map[string]bool{"pure": true, "zcdp": true, "approx": false, "approxzcdp": false, "gdp": false} {
		out, err := exec.Command("go", "build", "-o", t.TempDir(), "./testdata/open/"+program).CombinedOutput()
		switch {
		case compiles && err != nil:
			t.Errorf("%s does not compile: %s", program, out)
		case !compiles && err == nil:
			t.Errorf("%s compiles", program)
		case !compiles && !strings.Contains(string(out), "does not implement account.Interleavable"):
			t.Errorf("%s does not compile for another reason: %s", program, out)
		}
	}
}

// disguised embeds a guarantee that may open sessions, and names another price.
type disguised struct {
	account.Pure
	instead account.Approx
}

func (d disguised) Charge() (account.Charge, error) { return d.instead.Charge() }

func TestSessionsAreChargedForWhatTheyEmbed(t *testing.T) {
	s := account.NewSpending(account.BasicFilter(dp.One, dp.One/2))
	cheat := disguised{account.Pure{Epsilon: 0.75}, account.Approx{Epsilon: 0x1p-40, Delta: 0.1}}
	if err := s.Open(cheat); err != nil {
		t.Fatal(err)
	}
	if got := s.Spent(); got.Epsilon != dp.One*3/4 || got.Delta != 0 {
		t.Errorf("a disguised session was charged %v", got)
	}
}

// free is a claim that makes up its charge.
type free struct{}

func (free) Charge() (account.Charge, error) { return account.Charge{}, nil }

func TestChargesAreMadeFromGuarantees(t *testing.T) {
	s := account.NewSpending(account.ZCDPFilter(dp.One, 0))
	if err := s.Spend(free{}); err == nil {
		t.Error("a charge that was made from nothing was admitted")
	}
	if err := s.Spend(nil); err == nil {
		t.Error("no claim was admitted")
	}
	if err := s.Open(nil); err == nil {
		t.Error("no session was admitted")
	}
	if c := (account.Charge{}).Cost(); c.Epsilon != dp.Unbounded || c.Rho != dp.Unbounded || c.Delta != dp.Unbounded {
		t.Errorf("the zero charge claims %v", c)
	}
	if s.Spent() != (dp.Cost{}) {
		t.Error("something was spent")
	}
}
