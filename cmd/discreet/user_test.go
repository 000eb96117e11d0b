package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

func user(policy string, args ...string) result {
	return command(append(append([]string{"user"}, args...), "--policy", policy)...)
}

// enters tries a password against the file.
func enters(t *testing.T, path, name, password string) error {
	t.Helper()
	s, err := users.Open(path)
	must(t, err)
	defer s.Close()
	_, err = s.Password(context.Background(), users.Attempt{Name: name, Address: "192.0.2.1", Listener: "http"}, password)
	return err
}

func TestUserHelp(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"add", "list", "password", "revoke", "token", "tokens", "revoke-token", "logins"} {
		r := command("user", name, "--help").wants(t, 0, "Usage: discreet user "+name, "\n    discreet user "+name)
		for line := range strings.Lines(r.out) {
			if len(line) > 130 {
				t.Errorf("%s --help has a line of %d bytes", name, len(line))
			}
		}
	}
}

// The story of a user, in words: one day in a file, one in a database.
func TestUser(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(*testing.T){"file": userInFile, "database": userInDatabase}
	for _, kind := range daily.Sample(t, []string{"file", "database"}, 1) {
		t.Run(kind, kinds[kind])
	}
}

func userInFile(t *testing.T) {
	policy := deploy(t, tenQuestions)
	path := beside(policy, "policy.users")
	userStory(t, policy, path)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func userInDatabase(t *testing.T) {
	policy, address := deploy(t, tenQuestions), testpg.Shared(t).URL()
	text := contents(t, policy)
	write(t, policy, "ledger: "+address+"\n"+text)
	user(policy, "list").wants(t, 2, "there are no users yet", "discreet user add")
	userStory(t, policy, address)
	if _, err := os.Stat(beside(policy, "policy.users")); err == nil {
		t.Error("there is a file too")
	}
	secret := strings.Replace(address, "postgres@", "postgres:hunter22@", 1)
	command("user", "list", "--users", secret).wants(t, 2, "DISCREET_LEDGER_PASSWORD").lacks(t, "hunter22")
}

func userStory(t *testing.T, policy, path string) {
	t.Helper()
	drawn := func(r result) string {
		t.Helper()
		m := regexp.MustCompile(`(?m)^password: ((?:[0-9a-z]{4}-){7}[0-9a-z]{4})$`).FindStringSubmatch(r.out)
		if m == nil {
			t.Fatalf("no password in %q", r.out)
		}
		return m[1]
	}
	added := user(policy, "add", "ana").wants(t, 0, "added ana as analyst to "+console.ShellQuote(path), "shown this once")
	first := drawn(added.lacks(t, "warning"))
	if err := enters(t, path, "ana", first); err != nil {
		t.Error(err)
	}
	user(policy, "add", "boss", "--role", "owner").wants(t, 0, "added boss as owner").lacks(t, "warning")
	user(policy, "add", "eve").wants(t, 0, "warning: eve can sign in but cannot ask anything yet", "eve: {share: 0.1}")
	user(policy, "list").wants(t, 0, "ana", "analyst", "boss", "owner").lacks(t, first)

	second := drawn(user(policy, "password", "ana").wants(t, 0, "ana has a new password"))
	if enters(t, path, "ana", first) != users.ErrDenied || enters(t, path, "ana", second) != nil {
		t.Error("the new password does not replace the old one")
	}
	made := user(policy, "token", "ana", "--label", "nightly report").wants(t, 0, "token: dsc_", "It is ana's")
	id := regexp.MustCompile(`dsc_([0-9a-z]{10})_`).FindStringSubmatch(made.out)[1]
	user(policy, "tokens").wants(t, 0, id, "nightly report", "ana", "never")
	user(policy, "tokens", "boss").wants(t, 0, "there are no tokens").lacks(t, id)
	user(policy, "revoke-token", id).wants(t, 0, "revoked the token "+id)
	user(policy, "logins").wants(t, 0, "192.0.2.1", "http", "denied", "in")
	user(policy, "logins", "boss").wants(t, 0, "nobody has tried")
	user(policy, "revoke", "ana").wants(t, 0, "revoked ana")
	if enters(t, path, "ana", second) != users.ErrDenied {
		t.Error("a revoked user comes in")
	}
	user(policy, "logins", "ana", "--last", "1").wants(t, 0, "revoked").lacks(t, "denied")
	fed("correct horse battery\r\nmore\n", "user", "password", "ana", "--password-stdin", "--policy", policy).
		wants(t, 0, "ana has a new password").lacks(t, "correct")
	if err := enters(t, path, "ana", "correct horse battery"); err != nil {
		t.Error(err)
	}
}

// This is the contract of --json.
func TestUserJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "some.users")
	does := func(input string, args ...string) map[string]any {
		t.Helper()
		return fed(input, append(append([]string{"user"}, args...), "--users", path, "--json")...).wants(t, 0).decode(t)
	}
	do := func(args ...string) map[string]any { t.Helper(); return does("", args...) }
	v := do("add", "ana")
	if v["name"] != "ana" || v["role"] != "analyst" || v["users"] != path || len(v["password"].(string)) != 39 || len(v) != 4 {
		t.Errorf("got %v", v)
	}
	if v := does("correct horse battery", "add", "bob", "--password-stdin"); v["password"] != nil {
		t.Errorf("got %v", v)
	}
	if v := do("password", "ana"); v["name"] != "ana" || enters(t, path, "ana", v["password"].(string)) != nil {
		t.Errorf("got %v", v)
	}
	token := do("token", "ana", "--expires", "never")
	if token["user"] != "ana" || token["expires"] != nil || !strings.HasPrefix(token["token"].(string), "dsc_"+token["id"].(string)) {
		t.Errorf("got %v", token)
	}
	if v := do("tokens")["tokens"].([]any); len(v) != 1 || v[0].(map[string]any)["token"] != nil ||
		v[0].(map[string]any)["id"] != token["id"] {
		t.Errorf("got %v", v)
	}
	if v := do("revoke-token", token["id"].(string)); v["revoked"] != token["id"] {
		t.Errorf("got %v", v)
	}
	if v := do("revoke", "ana"); v["revoked"] != "ana" {
		t.Errorf("got %v", v)
	}
	all := do("list")["users"].([]any)
	if len(all) != 2 || all[0].(map[string]any)["revoked"] == nil || all[1].(map[string]any)["revoked"] != nil {
		t.Errorf("got %v", all)
	}
	lines := do("logins")["logins"].([]any)
	if len(lines) != 1 || lines[0].(map[string]any)["outcome"] != "in" || lines[0].(map[string]any)["count"] != 1.0 {
		t.Errorf("got %v", lines)
	}
	policy := deploy(t, tenQuestions)
	if v := command("user", "add", "eve", "-p", policy, "--users", path, "--json").wants(t, 0, "warning: ").decode(t); v["warning"] == nil {
		t.Errorf("got %v", v)
	}
	command("user", "revoke", "nobody", "--users", path, "--json").fails(t, 2, "refused")
}

func TestUserRefused(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	path := beside(policy, "policy.users")
	for _, args := range [][]string{{"list"}, {"tokens"}, {"logins"}, {"revoke", "ana"}, {"password", "ana"}, {"token", "ana"},
		{"revoke-token", "x"}} {
		user(policy, args...).wants(t, 2, "there are no users yet")
		command(append([]string{"user"}, args...)...).wants(t, 2, "--policy", "--users")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
	for _, name := range []string{"", "a b", "ﬁ", "a\u0308", "a/b", "a\nb", strings.Repeat("x", 65)} {
		user(policy, "add", name).wants(t, 2, "the name")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made for a bad name")
	}
	user(policy, "add", "ana").wants(t, 0)
	for _, c := range []struct {
		input string
		args  []string
		says  string
	}{
		{"", []string{"add", "ana"}, "already"},
		{"", []string{"add", "bob", "--role", "king"}, "owner or analyst"},
		{"", []string{"add"}, "<name>"},
		{"", []string{"add", "bob", "--password-stdin"}, "standard input holds no password"},
		{"\nsecond line", []string{"add", "bob", "--password-stdin"}, "standard input holds no password"},
		{"4711", []string{"add", "bob", "--password-stdin"}, "12 to 256 characters"},
		{strings.Repeat("4711 abcdefg", 1<<16), []string{"add", "bob", "--password-stdin"}, "12 to 256 characters"},
		{"4711", []string{"password", "ana", "--password-stdin"}, "12 to 256 characters"},
		{"", []string{"password", "bob"}, "no such user"},
		{"", []string{"revoke", "bob"}, "no such user"},
		{"", []string{"revoke", ""}, "no such user"},
		{"", []string{"token", "bob"}, "no such user"},
		{"", []string{"tokens", "bob"}, "no such user"},
		{"", []string{"revoke-token", "0000000000"}, "no such token"},
		{"", []string{"revoke-token", "dsc_0000000000_4711471147114711"}, "no such token"},
		{"", []string{"token", "ana", "--label", "a\nb"}, "the label"},
		{"", []string{"logins", "--last", "0"}, "above 0"},
		{"", []string{"logins", "--last", "many"}, "--last"},
	} {
		fed(c.input, append(append([]string{"user"}, c.args...), "--policy", policy)...).wants(t, 2, c.says).lacks(t, "4711")
	}
	for _, when := range []string{"", "0d", "-1d", "d", "90", "1.5d", "99999d", "2020-01-01", "2027-02-30", "tomorrow",
		time.Now().UTC().Format(time.DateOnly)} {
		user(policy, "token", "ana", "--expires="+when).wants(t, 2, "--expires", "90d")
	}
	user(policy, "revoke", "ana").wants(t, 0)
	user(policy, "revoke", "ana").wants(t, 2, "already revoked")
	user(policy, "token", "ana").wants(t, 2, "already revoked")
	user(policy, "tokens", "ana").wants(t, 0, "there are no tokens")
}

func TestUserFiles(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	path := write(t, beside(policy, "policy.users"), "not a database")
	for _, args := range [][]string{{"add", "ana"}, {"list"}} {
		user(policy, args...).wants(t, 1, "is not a user file")
	}
	// The ledger is one of ours, and not this one.
	asks(policy, people).wants(t, 0)
	command("user", "add", "ana", "--users", beside(policy, "policy.ledger")).wants(t, 1, "is not a user file")
	spent(t, policy)
	command("user", "list", "--users", filepath.Dir(policy)).wants(t, 1, "not a regular file")
	command("user", "add", "ana", "--users", beside(policy, "nowhere", "x.users")).wants(t, 1, "cannot be created")
	user(beside(policy, "nowhere.yaml"), "list").wants(t, 1, "nowhere.yaml")
	must(t, os.Remove(path))
	user(policy, "add", "ana").wants(t, 0)
	if runtime.GOOS == "windows" {
		return
	}
	must(t, os.Chmod(path, 0o644))
	user(policy, "list").wants(t, 1, "chmod 600", "0644")
}

// Commands of several processes at once are all done.
func TestUsersAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "some.users")
	names := []string{"a", "b", "c", "d"}
	var started []func() error
	for _, name := range names {
		c := process(new(bytes.Buffer), new(bytes.Buffer), "user", "add", name, "--users", path)
		must(t, c.Start())
		started = append(started, c.Wait)
	}
	for i, wait := range started {
		if err := wait(); err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
	}
	if all := command("user", "list", "--users", path, "--json").wants(t, 0).decode(t)["users"].([]any); len(all) != len(names) {
		t.Errorf("got %v", all)
	}
}
