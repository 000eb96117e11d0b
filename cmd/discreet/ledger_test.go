package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

func TestLedgerVerify(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	file := beside(policy, "policy.ledger")
	command("ledger", "verify", "-p", policy).wants(t, 1, "there is no ledger at")
	asks(policy, people).wants(t, 0)
	command("ledger", "verify", file).wants(t, 0, "is whole: 4 records, 1 answer kept", "1 charge, 1 answer, 1 version", "owner: none",
		"hospital/ana            0.1")
	r := command("ledger", "verify", "-p", policy, "--json").wants(t, 0).decode(t)
	if r["records"] != 4.0 || r["charges"] != 1.0 || r["answers"] != 1.0 || len(r["balances"].([]any)) != 2 ||
		r["kinds"].(map[string]any)["version"] != 1.0 {
		t.Errorf("got %v", r)
	}
	command("ledger", "verify").wants(t, 2, "name either a ledger file, or a policy")
	command("ledger", "verify", "-p", policy, file).wants(t, 2, "name either a ledger file, or a policy")
	command("ledger", "verify", policy).wants(t, 2, "policy.yaml is not a ledger", "did you mean --policy")
	command("ledger", "verify", write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")).wants(t, 1, "damaged")
	command("ledger", "verify", filepath.Dir(policy)).wants(t, 1)
}

// A ledger that is not whole stops everything that would need it, and stays as it is.
func TestDamagedLedger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(text []byte) []byte
	}{
		{"empty", func([]byte) []byte { return nil }},
		{"half", func(b []byte) []byte { return b[:len(b)/2] }},
		{"short", func(b []byte) []byte { return b[:100] }},
		{"not a ledger", func([]byte) []byte { return []byte(strings.Repeat("not a ledger ", 1000)) }},
		{"one letter", func(b []byte) []byte {
			i := strings.Index(string(b), "hospital/ana")
			b[i] = 'H'
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := deploy(t, tenQuestions)
			asks(policy, people).wants(t, 0)
			file := beside(policy, "policy.ledger")
			good := contents(t, file)
			bad := string(c.damage(append([]byte(nil), good...)))
			write(t, file, bad)
			for _, args := range [][]string{{"query", "-p", policy, "--as", "ana", people}, {"explain", "-p", policy, "--as", "ana",
				people}, {"budget", "-p", policy}, {"ledger", "verify", file},
				{"ledger", "show", file}, {"ledger", "export", file}, {"ledger", "replay", file}, {"ledger", "replay", "-q", "-p",
					policy}, {"ledger", "export", "-p", policy, "--format", "jsonl", "-o", beside(policy, "out")}} {
				command(args...).wants(t, 1, "damaged", "Do not delete it")
			}
			asks(policy, "--json", people).fails(t, 1, "failed")
			if _, err := os.Stat(beside(policy, "out")); err == nil {
				t.Error("a damaged ledger was exported")
			}
			if now, _ := os.ReadFile(file); string(now) != bad {
				t.Error("a damaged ledger was changed")
			}
			write(t, file, good)
			asks(policy, people).wants(t, 0, "free")
		})
	}
}

func TestLedgerThatCannotBe(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	must(t, os.Mkdir(beside(policy, "policy.ledger"), 0o755))
	asks(policy, people).wants(t, 1, "policy.ledger")
	command("ledger", "verify", "-p", policy).wants(t, 1, "policy.ledger")

	// Folders where nobody can create a file, root neither.
	for _, ledger := range []string{"/proc/policy.ledger", "/proc/no/such/policy.ledger", "/dev/null/policy.ledger"} {
		policy := deploy(t, tenQuestions)
		change(t, policy, func(s string) string { return "ledger: " + ledger + "\n" + s })
		asks(policy, people).wants(t, 1, "the ledger")
	}
	if os.Geteuid() != 0 {
		policy := deploy(t, tenQuestions)
		os.Chmod(filepath.Dir(policy), 0o555)
		defer os.Chmod(filepath.Dir(policy), 0o755)
		asks(policy, people).wants(t, 1, "permission denied")
	}
}

// A ledger has one process at a time; the next one waits a little, and says why it stops.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	asks(policy, people).wants(t, 0)
	l, err := sqlite.Open(beside(policy, "policy.ledger"))
	must(t, err)
	start := time.Now()
	processed(t, "", "query", "-p", policy, "--as", "ana", people).wants(t, 1, "the ledger is open already",
		"stop the server, or wait for the command")
	if took := time.Since(start); took < time.Second || took > 20*time.Second {
		t.Errorf("it waited for %v", took)
	}
	// Whoever waits long enough gets it.
	time.AfterFunc(700*time.Millisecond, func() { l.Close() })
	processed(t, "", "query", "-p", policy, "--as", "ana", people).wants(t, 0, "free")
}

func TestLedgerShow(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	command("ledger", "show", "-p", policy).wants(t, 1, "there is no ledger at")
	s := newScribe(t, policy)
	s.charge("=first", day(9), dp.One/4, 0)
	s.answer(1)
	s.charge("second", day(8), dp.One/2, 0)
	s.owner()
	s.topUp(day(7), dp.One)
	s.charge("third", day(6), dp.One/4, dp.One)
	s.add(&ledger.Record{Kind: ledger.KindRenewal, Time: day(5), Dataset: "hospital", Window: 2, Reason: "a new year"})
	s.add(&ledger.Record{Kind: ledger.KindRecovery, Time: day(4), AnchorSequence: 99, Reason: "the disk",
		Balances: []ledger.Balance{{Account: "hospital", Spent: dp.Cost{Epsilon: 2 * dp.One, Rho: dp.Unbounded}}}})
	s.add(&ledger.Record{Kind: ledger.KindVersion, Time: day(3), Dataset: "hospital", DataVersion: "0123456789"})
	file := s.save()
	before := contents(t, file)

	r := command("ledger", "show", file).wants(t, 0, "the ledger begins", "2026-11-06 12:00:00",
		"epsilon 0.25  epsilon 0.75 in hospital", "discrete-laplace; ! 50 % of hospital; ! 50 % of hospital/ana",
		"to charge 1", "the owner is ", "epsilon 1 more for hospital, hospital/ana, signed by ", ": board decision",
		"window 2 begins: a new year",
		"1 account counted as spent, up to the anchor at 99: the disk", "0123456…  ",
		"from here on, charges are for this version of the data").lacks(t, "before these; --last", shownToNobody)
	if n := strings.Count(r.out, "\n"); n != 12 {
		t.Errorf("%d lines: %s", n, r.out)
	}
	command("ledger", "show", "-p", policy, "--last", "2").wants(t, 0, "8 records before these; --last 0 shows all",
		"from here on, charges are for this version of the data", "the disk").lacks(t, "a new year")
	command("ledger", "show", "-p", policy, "--last", "0").wants(t, 0, "the ledger begins").lacks(t, "before these; --last")
	command("ledger", "show", "-p", policy, "--request", "=first").wants(t, 0, "to charge 1", "epsilon 0.25").lacks(t,
		"epsilon 0.5", "owner")
	command("ledger", "show", "-p", policy, "--analyst", "ana", "--kind", "charge").wants(t, 0, "epsilon 0.5").lacks(t,
		"to charge", "owner")
	command("ledger", "show", "-p", policy, "--dataset", "hospital").wants(t, 0, "board decision", "a new year", "the disk",
		"to charge 1").lacks(t, "the ledger begins", "the owner is")
	command("ledger", "show", "-p", policy, "--dataset", "clinic").wants(t, 0, "no record matches")
	command("ledger", "show", "-p", policy, "--kind", "topup,renewal").wants(t, 0, "board decision", "a new year").lacks(t, "the disk")

	rows := command("ledger", "show", file, "--json", "--kind", "charge,recovery").wants(t, 0).decode(t)["records"].([]any)
	first, last := rows[0].(map[string]any), rows[3].(map[string]any)
	if len(rows) != 4 || first["request"] != "=first" || first["epsilon"] != "0.25" || first["rho"] != nil || first["answer"] != 2.0 ||
		last["anchor_sequence"] != 99.0 || last["reason"] != "the disk" {
		t.Errorf("got %v", rows)
	}
	if rows := command("ledger", "show", file, "--json", "--last", "3").wants(t, 0).decode(t)["records"].([]any); len(rows) != 3 {
		t.Errorf("%d rows", len(rows))
	}
	if contents(t, file) != before {
		t.Error("showing changed the ledger")
	}
	command("ledger", "verify", file).wants(t, 0, "hospital is in window 2", "fingerprint ",
		"3 charge, 1 answer, 1 version, 1 renewal, 1 owner, 1 topup, 1 recovery")

	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, 2, "name either a ledger file, or a policy"},
		{[]string{file, "-p", policy}, 2, "name either a ledger file, or a policy"},
		{[]string{file, "--last", "-1"}, 2, "--last"},
		{[]string{file, "--last", "many"}, 2, "see discreet ledger show --help"},
		{[]string{file, "--kind", "charges"}, 2,
			`there are no records of kind "charges": the kinds are charge, answer, version, renewal, owner, topup, recovery, ` +
				`note, incident, release and ledger`},
		{[]string{file + ".none"}, 1, "there is no ledger at"},
		{[]string{policy}, 2, "did you mean --policy"},
		{[]string{write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")}, 1, "damaged"},
		{[]string{t.TempDir()}, 1, "not a regular file"},
	} {
		command(append([]string{"ledger", "show"}, c.args...)...).wants(t, c.code, c.says)
	}
}

// A long ledger is shown to its end.
func TestLedgerShowAll(t *testing.T) {
	t.Parallel()
	s := newScribe(t, deploy(t, tenQuestions))
	for i := range 1201 {
		s.charge(strings.Repeat("x", i%100+1)+string(rune('a'+i/100)), day(1), 1, 0)
	}
	r := command("ledger", "show", "--last", "0", s.save()).wants(t, 0)
	if n := strings.Count(r.out, " charge "); n != 1201 {
		t.Errorf("%d charges", n)
	}
}

// A note is a line in every listing, and its contents are in none, however they are written.
func TestLedgerNotes(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	path := beside(policy, "policy.ledger")
	l, err := sqlite.Open(path)
	must(t, err)
	const secret = "THRESHOLD-NOISE-SECRET-17"
	for range 3 {
		must(t, l.Note(t.Context(), "hospital/patients/v1", []byte(secret)))
	}
	var salted []string // the secret, as somebody might print it
	for r, err := range l.Records(t.Context(), 1) {
		must(t, err)
		if r.Kind != ledger.KindNote || r.AnswerHash == ledger.Hash(secret) {
			t.Errorf("%+v", r)
		}
	}
	must(t, l.Close())
	salted = append(salted, secret, strings.ToLower(secret), hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), ledger.Hash(secret))
	for _, c := range []struct {
		says string
		args []string
	}{
		{"of hospital/patients/v1", []string{"ledger", "show", path}},
		{"of hospital/patients/v1", []string{"ledger", "show", path, "--dataset", "hospital", "--kind", "note"}},
		{`"session":"hospital/patients/v1"`, []string{"ledger", "show", path, "--json"}},
		{`"session":"hospital/patients/v1"`, []string{"ledger", "export", path, "--all", "--format", "jsonl"}},
		{"hospital/patients/v1", []string{"ledger", "export", path, "--all", "--format", "csv"}},
		{"", []string{"ledger", "export", path, "--format", "csv"}},
		{"", []string{"ledger", "replay", path}},
		{"", []string{"ledger", "replay", path, "--json"}},
		{"3 note", []string{"ledger", "verify", path}},
		{"", []string{"ledger", "verify", path, "--json"}},
		{"", []string{"budget", "-p", policy}},
	} {
		r := command(c.args...).wants(t, 0)
		if !strings.Contains(r.out+r.err, c.says) {
			t.Errorf("%v does not say %q: %s", c.args, c.says, r.out)
		}
		for _, text := range salted {
			if strings.Contains(r.out+r.err, text) {
				t.Errorf("%v tells a note: %s", c.args, r.out)
			}
		}
	}
	if r := command("ledger", "show", path, "--dataset", "school").wants(t, 0); strings.Contains(r.out, "patients") {
		t.Errorf("a note of another dataset: %s", r.out)
	}
}

// What the curator wrote is what follows; a policy that was changed since is noted, and is no
// fault.
func TestLedgerReplay(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	command("ledger", "replay", "-p", policy).wants(t, 1, "there is no ledger at")
	asks(policy, people).wants(t, 0)
	asks(policy, "--epsilon", "0.3", "SELECT COUNT(*) FROM visits").wants(t, 0)
	command("ledger", "replay", "-p", policy).wants(t, 0,
		"ana admitted; hospital 0 + 0.1 of epsilon 1; hospital/ana 0 + 0.1 of epsilon 1\n", "hospital 0.1 + 0.3 of",
		"2 decisions re-derived, 0 differ").lacks(t, "note:", "DIFFERS")
	command("ledger", "replay", "-q", beside(policy, "policy.ledger")).wants(t, 0, "2 decisions re-derived, 0 differ").lacks(t, "admitted")
	r := command("ledger", "replay", "-p", policy, "--json").wants(t, 0).decode(t)
	if r["decisions"] != 2.0 || r["differ"] != 0.0 || len(r["charges"].([]any)) != 2 || len(r["differences"].([]any)) != 0 ||
		len(r["policy_changes"].([]any)) != 0 {
		t.Errorf("got %v", r)
	}
	change(t, policy, func(s string) string {
		return strings.Replace(strings.Replace(s, "{epsilon: 1,", "{epsilon: 2,", 1), "ana: {share: 1}, ", "", 1)
	})
	command("ledger", "replay", "-p", policy).wants(t, 0,
		"note: the policy gives hospital epsilon 2; at its last charge it was epsilon 1",
		"note: the policy no longer names hospital/ana", "0 differ")
	command("ledger", "replay").wants(t, 2, "name either a ledger file, or a policy")
	command("ledger", "replay", policy).wants(t, 2, "did you mean --policy")
	command("ledger", "replay", write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")).wants(t, 1, "damaged")
}

// Records that somebody planted with the right hashes.
func TestLedgerReplayPlanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says string
		plant      func(s *scribe)
	}{
		{"good", "", func(s *scribe) { s.charge("second", day(8), dp.One/2, 0) }},
		{"overspent", `DIFFERS (charge): "hospital" does not cover this`, func(s *scribe) { s.charge("second", day(8), dp.One, 0) }},
		{"twice", `the request "first" was charged before, by record 1`, func(s *scribe) { s.charge("first", day(8), 1, 0) }},
		{"not granted", `"hospital" was granted`, func(s *scribe) { s.charge("second", day(8), dp.One, dp.One) }},
		{"granted", "", func(s *scribe) { s.owner(); s.topUp(day(8), dp.One); s.charge("second", day(8), dp.One, dp.One) }},
		{"no owner", "there is no owner who could have signed this", func(s *scribe) { s.topUp(day(8), dp.One) }},
		{"forgotten", `"hospital" has spent`, func(s *scribe) {
			s.spent["hospital"] = dp.Cost{Rho: dp.Unbounded}
			s.charge("second",
				day(8), 1, 0)
		}},
		{"two answers", "charge 1 has a second answer", func(s *scribe) { s.answer(1); s.answer(1) }},
		{"taken back", "the recovery takes back", func(s *scribe) {
			s.add(&ledger.Record{Kind: ledger.KindRecovery, Time: day(4), Reason: "the disk",
				Balances: []ledger.Balance{{Account: "hospital", Spent: dp.Cost{Rho: dp.Unbounded}}}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScribe(t, deploy(t, tenQuestions))
			s.charge("first", day(9), dp.One/4, 0)
			c.plant(s)
			file := s.save()
			if c.says == "" {
				command("ledger", "replay", file).wants(t, 0, "2 decisions re-derived, 0 differ")
				return
			}
			command("ledger", "replay", file).wants(t, 1, c.says, " differ", "not what follows from those before")
			command("ledger", "replay", "-q", file).wants(t, 1, c.says)
			r := command("ledger", "replay", "--json", file).wants(t, 1).decode(t)
			if r["differ"] == 0.0 || len(r["differences"].([]any)) == 0 {
				t.Errorf("got %v", r)
			}
		})
	}
}

// A ledger of a version in which a charge paid in every window: what was used is told, and what
// nobody can tell is in doubt.
func TestLedgerReplayOtherWindows(t *testing.T) {
	t.Parallel()
	old := contents(t, filepath.Join("..", "..", "internal", "ledger", "replay", "testdata", "windows.ledger"))
	file := filepath.Join(t.TempDir(), "old.ledger")
	write(t, file, old)
	command("ledger", "verify", file).wants(t, 0, "is whole")
	command("ledger", "replay", "-q", file).wants(t, 1, "IN DOUBT (renewal): the sparse vector session of charge 3",
		"DIFFERS (answer): charge 2 is of window 1", "1 differs")
	r := command("ledger", "replay", "--json", file).wants(t, 1).decode(t)
	if r["differ"] != 1.0 || len(r["differences"].([]any)) != 1 || len(r["doubts"].([]any)) != 1 {
		t.Errorf("got %v", r)
	}
}

func rowsOf(t *testing.T, text string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		out = append(out, row)
	}
	return out
}

func TestLedgerExport(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	s := newScribe(t, policy)
	s.charge("=HYPERLINK(1)", day(9), dp.One/4, 0)
	s.answer(1)
	s.owner()
	s.topUp(day(7), dp.One)
	s.charge("'quoted', \"twice\"", day(6), 109951162777, dp.One)
	file := s.save()
	exported := beside(policy, "out.csv")

	for _, all := range []string{"", "--all"} {
		args := []string{"ledger", "export", "-p", policy}
		if all != "" {
			args = append(args, all)
		}
		lines := rowsOf(t, command(append(args, "--format", "jsonl")...).wants(t, 0).out)
		command(append(args, "--output", exported, "--force")...).wants(t, 0, "wrote ", " rows to ")
		table, err := csv.NewReader(strings.NewReader(contents(t, exported))).ReadAll()
		must(t, err)
		want := map[string]int{"": 2, "--all": 6}[all]
		if len(lines) != want || len(table) != want+1 {
			t.Fatalf("%d lines and %d rows", len(lines), len(table))
		}
		// Every cell is the field of the same name, and every field is in a cell.
		for i, row := range table[1:] {
			cells := 0
			for k, name := range table[0] {
				if strings.ContainsRune("=+-@\t\r", rune((row[k] + " ")[0])) {
					t.Errorf("a spreadsheet would compute %q", row[k])
				}
				got := strings.TrimPrefix(row[k], "'")
				value, there := lines[i][name]
				if there {
					cells++
				}
				text, isText := value.(string)
				if !isText && value != nil {
					var compact bytes.Buffer
					b, _ := json.Marshal(value)
					json.Compact(&compact, b)
					var cell any
					if err := json.Unmarshal([]byte(got), &cell); err != nil {
						t.Errorf("%s: %q is not %s", name, got, compact.String())
					}
					b, _ = json.Marshal(cell)
					got, text = string(b), compact.String()
				}
				if got != text {
					t.Errorf("row %d: %s is %q and %q", i, name, got, text)
				}
			}
			if cells != len(lines[i]) {
				t.Errorf("row %d has %d of %d fields: %v", i, cells, len(lines[i]), lines[i])
			}
		}
	}
	if info, err := os.Stat(exported); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v: %v", info.Mode(), err)
	}

	// Somebody who knows nothing of this program recomputes the chain, and adds up what was spent,
	// exactly.
	previous, sum := "", new(big.Rat)
	for i, row := range rowsOf(t, command("ledger", "export", file, "--format", "jsonl", "--all").wants(t, 0).out) {
		digest := sha256.Sum256([]byte(row["record"].(string)))
		if row["hash"] != hex.EncodeToString(digest[:]) || row["previous"] != previous || row["sequence"] != float64(i) ||
			previous != "" && !strings.Contains(row["record"].(string), "64:"+previous+",") {
			t.Errorf("row %d does not fit: %v", i, row)
		}
		previous = row["hash"].(string)
		if row["kind"] != "charge" {
			continue
		}
		cost, ok := new(big.Rat).SetString(row["epsilon"].(string))
		spent, ok2 := new(big.Rat).SetString(row["accounts"].([]any)[0].(map[string]any)["spent"].(map[string]any)["epsilon"].(string))
		if sum.Add(sum, cost); !ok || !ok2 || sum.Cmp(spent) != 0 || !new(big.Rat).Mul(cost, big.NewRat(1<<40, 1)).IsInt() {
			t.Errorf("row %d: the sum is %v and the account says %v", i, sum, spent)
		}
	}
	if head := spent(t, policy).Head; head != previous {
		t.Errorf("the chain ends with %s and the head is %s", previous, head)
	}
}

func TestLedgerExportRefuses(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	s := newScribe(t, policy)
	s.charge("first", day(9), dp.One/4, 0)
	file := s.save()
	before := contents(t, file)
	there := write(t, beside(policy, "there.csv"), "mine")
	link := beside(policy, "link.csv")
	must(t, os.Symlink(file, link))
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{file, "--format", "xml"}, 2, "--format must be one of"},
		{[]string{file, "-o", there}, 2, "already exists: write to another file, or add --force"},
		{[]string{file, "-o", file, "--force"}, 2, "belongs to the ledger"},
		{[]string{file, "-o", file + "-journal", "--force"}, 2, "belongs to the ledger"},
		{[]string{file, "-o", link, "--force"}, 2, "is the ledger to export"},
		{[]string{"-p", policy, "-o", policy, "--force"}, 2, "or its policy"},
		{[]string{file, "-o", t.TempDir(), "--force"}, 2, "is a folder"},
		{[]string{file, "-o", "/no/such/folder/x.csv"}, 2, "this folder does not exist"},
		{[]string{file + ".none"}, 1, "there is no ledger at"},
		{[]string{policy}, 2, "did you mean --policy"},
		{[]string{write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")}, 1, "damaged"},
		{[]string{}, 2, "name either a ledger file, or a policy"},
	} {
		command(append([]string{"ledger", "export"}, c.args...)...).wants(t, c.code, c.says)
	}
	if contents(t, file) != before || contents(t, there) != "mine" {
		t.Error("a refused export changed a file")
	}
	command("ledger", "export", file, "-o", file+".csv").wants(t, 0, "wrote 1 row to")
	command("ledger", "export", file, "-o", there, "--force").wants(t, 0, "wrote 1 row to")
	if !strings.HasPrefix(contents(t, there), "sequence,") {
		t.Error("--force does not replace")
	}
	entries, _ := os.ReadDir(beside(policy))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".discreet") {
			t.Errorf("%s was left", e.Name())
		}
	}
}
