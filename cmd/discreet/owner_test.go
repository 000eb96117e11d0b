package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// windows is a budget of three questions a month.
const windows = "{epsilon: 0.3, per_query: {default: 0.1, max: 0.3}, renewal: {every: month, windows: 3}}"

// older is a question that is another one for every age.
func older(age string) string { return "SELECT COUNT(*) FROM patients WHERE age > " + age }

// teamed adds a group to the policy.
func teamed(t testing.TB, budget string) string {
	policy := deploy(t, budget)
	replace(t, policy, "    tables:\n", "    groups: {ward: {share: 0.5, analysts: [ben]}}\n    tables:\n")
	return policy
}

func TestTopUpByCommand(t *testing.T) {
	t.Parallel()
	policy := teamed(t, concentrated)
	key, other := beside(policy, "owner.key"), beside(policy, "other.key")
	topup := func(more ...string) result {
		return command(append([]string{"ledger", "topup", "-p", policy, "--reason", "test"}, more...)...)
	}
	topup("--key", key, "--epsilon", "1").wants(t, 2, "owner.key does not exist")
	command("ledger", "key", "-p", policy, key, "--old", other).wants(t, 2, "no owner yet")
	command("ledger", "key", "-p", policy, key).wants(t, 0, "made "+key, "is now the key")
	command("ledger", "key", "-p", policy, key).wants(t, 0, "already").lacks(t, "made")
	command("ledger", "key", "-p", policy, other).wants(t, 2, "--old")
	if _, err := os.Stat(other); err == nil {
		t.Error("a key was made that is of no use")
	}
	r := topup("--key", key, "--epsilon", "0.5").wants(t, 0, "hospital: epsilon 1 before, epsilon 1.5 from now on at delta 1e-06",
		"Before:\n  For good:", "2.72 times as likely (epsilon 1)", "From now on:", "4.49 times as likely (epsilon 1.5)")
	if r.err != "" {
		t.Errorf("it says %q", r.err)
	}
	topup("--key", key, "--epsilon", "0.1", "--group", "ward").wants(t, 0, "hospital/group:ward: epsilon",
		"the promise to the people in the data is unchanged")
	topup("--key", key, "--epsilon", "0.1", "--analyst", "ben").wants(t, 0, "hospital/ben: epsilon")
	if v := topup("--key", key, "--epsilon", "0.1", "--json").wants(t, 0).decode(t); v["sequence"] == nil ||
		len(v["after"].([]any)) != 1 || len(v["promise"].([]any)) != 2 {
		t.Errorf("got %v", v)
	}
	for _, c := range [][]string{
		{"how much to raise it"}, {"it must be above 0", "--epsilon", "0"},
		{"--epsilon", "--epsilon", "much"}, {"--epsilon", "--epsilon", "-1"},
		{"sets no delta aside", "--epsilon", "1", "--delta", "1e-7"}, {"the most is epsilon 100", "--epsilon", "1000"},
		{"no analyst", "--analyst", "eve", "--epsilon", "1"}, {"no group", "--group", "eve", "--epsilon", "1"},
		{"can't be used together", "--group", "ward", "--analyst", "ben", "--epsilon", "1"},
		{"no dataset", "--dataset", "other", "--epsilon", "1"},
	} {
		topup(append([]string{"--key", key}, c[1:]...)...).wants(t, 2, c[0])
	}
	topup("--epsilon", "1", "--key", policy).wants(t, 2, "does not hold a private key")
	topup("--epsilon", "1", "--key", key, "--reason", "").wants(t, 2, "reason")
	if runtime.GOOS != "windows" {
		os.Chmod(key, 0o644)
		topup("--epsilon", "1", "--key", key).wants(t, 2, "chmod 600")
		os.Chmod(key, 0o600)
	}
	// A new owner, for whom the old one signs. From then on the old key is worth nothing.
	command("ledger", "key", "-p", policy, other, "--old", key, "--reason", "Kim has left").wants(t, 0, "made", "is now the key")
	topup("--epsilon", "0.1", "--key", key).wants(t, 2, "not that of the ledger's owner", "Nothing was changed")
	topup("--epsilon", "0.1", "--key", other).wants(t, 0)
	command("ledger", "key", "-p", policy, beside(policy, "third.key"), "--old", key).wants(t, 2, "is not the key of the ledger's owner")
	command("ledger", "verify", "-p", policy).wants(t, 0, "is whole")
	command("budget", "-p", policy).wants(t, 0, "hospital/group:ward")
}

func TestRenewByCommand(t *testing.T) {
	policy := teamed(t, windows)
	renew := func(more ...string) result {
		return command(append([]string{"ledger", "renew", "-p", policy, "--reason", "test"}, more...)...)
	}
	renew("--due").wants(t, 0, "not due: nothing has been spent yet")
	for _, age := range []string{"10", "20", "30"} {
		asks(policy, older(age)).wants(t, 0)
	}
	asks(policy, older("40")).wants(t, 3, "hospital#1", "begin the next window")
	r := renew("--due").wants(t, 0, "not due before "+time.Now().UTC().Format("2006")[:2])
	if v := renew("--due", "--json").wants(t, 0).decode(t); v["renewed"] != false || !strings.Contains(r.out, v["due"].(string)) {
		t.Errorf("got %v after %s", v, r.out)
	}
	renew().wants(t, 0, "window 2 of 3 has begun", "Within this window (a month, number 2 of 3)", "Over all 3 windows together")
	asks(policy, older("40")).wants(t, 0)
	// By a clock that is forty days ahead it is due, once.
	present = func() time.Time { return time.Now().AddDate(0, 0, 40) }
	renew("--due").wants(t, 0, "window 3 of 3 has begun")
	present = time.Now
	renew("--due").wants(t, 0, "not due: this is the last window")
	renew().wants(t, 2, "the policy has 3 windows")
	asks(policy, older("10")).wants(t, 0, "free")

	policy = deploy(t, tenQuestions)
	renew().wants(t, 2, "is not renewed")
	renew("--due").wants(t, 2, "is not renewed")
}

// An alert goes to standard error, so that what reads the answer is not disturbed, and into the
// JSON.
func TestAlertsByCommand(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	asks(policy, "--epsilon", "0.4", older("1")).wants(t, 0).lacks(t, "notice:")
	r := asks(policy, "--epsilon", "0.2", older("2")).wants(t, 0)
	if !strings.Contains(r.err, "notice: 50 % of the budget of \"hospital\" is spent\n") || strings.Contains(r.out, "notice") {
		t.Errorf("%q and %q", r.out, r.err)
	}
	asks(policy, "--epsilon", "0.2", older("2")).wants(t, 0, "free").lacks(t, "notice:")
	v := asks(policy, "--epsilon", "0.4", "--json", older("3")).wants(t, 0).decode(t)
	first := v["alerts"].([]any)[0].(map[string]any)
	if first["account"] != "hospital" || first["percent"] != 95.0 {
		t.Errorf("alerts %v", v["alerts"])
	}
}

func TestExpiredByCommand(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	replace(t, policy, "ana: {share: 1}", "ana: {expires: 2020-01-01}")
	asks(policy, people).wants(t, 2, "ended on 2020-01-01")
	command("explain", "-p", policy, "--as", "ana", people).wants(t, 2, "ended on 2020-01-01")
	command("query", "-p", policy, "--as", "ben", people).wants(t, 0)
	if r, err := sqlite.Verify(filepath.Join(filepath.Dir(policy), "policy.ledger")); err != nil || len(r.Balances) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// failed records an incident of the first charge in the ledger of a policy, as a server would.
func failed(t *testing.T, policy string, i ledger.Incident) {
	t.Helper()
	l, err := sqlite.Open(beside(policy, "policy.ledger"))
	must(t, err)
	defer l.Close()
	i.Dataset, i.ByAnalyst, i.ByDataset = "hospital", 1, 3
	must(t, errorOf(l.Fail(context.Background(), i)))
}

func TestIncidentsByCommand(t *testing.T) {
	t.Parallel()
	policy, key := deploy(t, tenQuestions), ""
	list := func(more ...string) result { return command(append([]string{"incidents", "-p", policy}, more...)...) }
	release := func(more ...string) result {
		return command(append([]string{"incidents", "release", "-p", policy, "--reason", "test"}, more...)...)
	}
	ask := func(age string) result { return command("query", "-p", policy, "--as", "ana", older(age)) }
	ask("1").wants(t, 0)
	list().wants(t, 0, "no incidents")
	release().wants(t, 2, "there is nothing to release")
	failed(t, policy, ledger.Incident{Analyst: "ana", Charge: 2, Failure: ledger.FailedMemory})
	list().wants(t, 0, "hospital  ana      memory   2       counts", "hospital gives ana no new answers")
	if v := list("--json", "--unanswered").wants(t, 0).decode(t); len(v["incidents"].([]any)) != 1 || len(v["closed"].([]any)) != 1 ||
		len(v["unanswered"].([]any)) != 0 {
		t.Errorf("got %v", v)
	}
	ask("2").wants(t, 2, "until its owner releases it")
	command("query", "-p", policy, "--as", "ana", "--json", older("2")).fails(t, 2, "closed")
	ask("1").wants(t, 0)
	command("explain", "-p", policy, "--as", "ana", older("2")).wants(t, 0, "but it would be refused", "closed: questions failed")
	command("query", "-p", policy, "--as", "ben", older("3")).wants(t, 0)
	release("--analyst", "ben").wants(t, 2, `"ben" has nothing to release; open incidents are ana's (record 5)`).lacks(t, "crash")
	list().wants(t, 0, "hospital gives ana no new answers")
	release("--analyst", "ana").wants(t, 0, "released 1 of 1 incidents")
	list().wants(t, 0, "released by record").lacks(t, "no new answers")
	ask("2").wants(t, 0)
	// Where the ledger has an owner, the owner signs.
	key = beside(policy, "owner.key")
	command("ledger", "key", "-p", policy, key).wants(t, 0)
	failed(t, policy, ledger.Incident{Failure: ledger.FailedCrash})
	release().wants(t, 2, "a release takes the owner's key")
	release("--analyst", "nope", "--key", key).wants(t, 2,
		`"nope" has nothing to release; a crash that names nobody is released without --analyst`)
	release("--dataset", "nope").wants(t, 2, `there is no dataset "nope"`)
	if v := release("--key", key, "--json").wants(t, 0).decode(t); v["released"] != 1.0 || v["closed"] != false {
		t.Errorf("got %v", v)
	}
	command("ledger", "verify", "-p", policy).wants(t, 0, "2 incident, 2 release")
	command("ledger", "replay", "-p", policy, "--quiet").wants(t, 0)
	command("ledger", "show", "-p", policy).wants(t, 0, "memory, of charge 2; 1 and 3 are tolerated", "incidents are released: test")
}

// Where everybody is shut out, nobody gets answers.
func TestEverybodyShutOut(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	command("query", "-p", policy, "--as", "ana", older("1")).wants(t, 0)
	for range 3 {
		failed(t, policy, ledger.Incident{Failure: ledger.FailedCrash})
	}
	command("incidents", "-p", policy).wants(t, 0, "hospital gives nobody new answers")
}

func TestCheckFailures(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	command("check", policy).wants(t, 0, "failures: after 1 of one analyst, or 3 of all together").lacks(t, "note: failures")
	change(t, policy, func(s string) string { return s + "    failures: {analyst: 5, dataset: 2}\n" })
	command("check", policy).wants(t, 0, "note: failures: 5 of one analyst and 2 of all together are tolerated")
	about := command("check", "--json", policy).wants(t, 0).decode(t)["datasets"].(map[string]any)["hospital"].(map[string]any)
	if f := about["failures"].(map[string]any); f["analyst"] != 5.0 || f["dataset"] != 2.0 || len(about["warnings"].([]any)) != 1 ||
		about["max_joined"] == nil {
		t.Errorf("got %v", about)
	}
}

func TestPolicyIsNoLedger(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	command("ledger", "verify", policy).wants(t, 2, "is not a ledger; did you mean --policy "+policy)
	command("ledger", "verify", beside(policy, "policy.ledger")).lacks(t, "did you mean")
}
