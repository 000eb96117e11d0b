package workbench

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/client"
)

// What happened at several servers is told in the words that the HTTP interface has for one; what
// nobody knows is not made up. (cmd/discreet asks real ones.)
func TestProblemOfServers(t *testing.T) {
	yes, no := true, false
	budget, away := client.Failure{Server: "a", Kind: "budget", Spent: &no}, client.Failure{Server: "b", Kind: "away"}
	paid, free := client.Share{Answer: &api.Answer{}}, client.Share{Answer: &api.Answer{Receipt: api.Receipt{Free: true}}}
	said := func(spent *bool) string {
		if spent == nil {
			return "unknown"
		}
		return fmt.Sprint(*spent)
	}
	for _, c := range []struct {
		err         error
		kind, spent string
	}{
		{api.Refuse("do that", "no"), "refused", "false"},
		{&client.Unasked{Failures: []client.Failure{budget, budget}}, "budget", "false"},
		{&client.Unasked{Failures: []client.Failure{budget, away}}, "unasked", "false"},
		{&client.Partial{Request: "r", Answered: []client.Share{paid}, Failures: []client.Failure{away}}, "partial", "true"},
		{&client.Partial{Request: "r", Answered: []client.Share{free}, Failures: []client.Failure{away}}, "partial", "unknown"},
		{&client.Partial{Request: "r", Failures: []client.Failure{{Server: "a", Kind: "canceled", Spent: &yes}}}, "partial", "true"},
	} {
		p := newRequestError(fmt.Errorf("asking: %w", c.err))
		if p.Kind != c.kind || said(p.Spent) != c.spent || p.Detail == "" || (p.Request == "r") != (c.kind == "partial") {
			t.Errorf("%v: %+v, spent %s", c.err, p, said(p.Spent))
		}
	}
	if newServersError(errors.New("another")) != nil {
		t.Error("what has nothing to do with servers is theirs")
	}
}

// What cannot be asked is refused before anything is sent.
func TestTogetherInvalid(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was sent") }))
	defer there.Close()
	two := fmt.Sprintf(`"servers": [{"name": "a", "address": %[1]q, "token": "t"}, {"name": "b", "address": %[1]q, "token": "t"}]`, there.URL)
	for line, says := range map[string]string{
		`{"sql": "SELECT 1"}`: "nothing to combine",
		`{"sql": "SELECT 1", "servers": [{"name": "a", "address": "ftp://x", "token": "t"}]}`:               "is not an address",
		`{"sql": "SELECT 1", "servers": [{"name": "a", "address": "https://x/y", "token": "t"}]}`:           "behind a path",
		`{"sql": "SELECT 1", "servers": [{"name": "a", "address": "https://x", "token": ""}]}`:              "the token is",
		`{"sql": "SELECT 1", "servers": [{"name": "a", "address": "unix:/x", "token": "t", "trust": "f"}]}`: "no certificate",
		`{"sql": "SELECT 1", "epsilon": "0", ` + two + `}`:                                                  "above 0",
		`{"sql": "", ` + two + `}`:                                           "empty",
		`{"sql": "SELECT 1", "colour": "red", ` + two + `}`:                  "colour",
		`{"sql": "SELECT 1", "settings": {"dp.colour": "red"}, ` + two + `}`: "dp.colour",
	} {
		for _, path := range []string{"/together", "/together/quote"} {
			status, said, _ := ask(t, path, line, nil)
			if status != http.StatusUnprocessableEntity || !strings.Contains(said["detail"].(string), says) {
				t.Errorf("%s %s: %d %v", path, line, status, said)
			}
		}
	}
}
