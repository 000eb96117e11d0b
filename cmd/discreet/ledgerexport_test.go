package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// rowsOf reads JSON Lines.
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
	policy := deploy(t, tenQuestions)
	s := newScribe(t, policy)
	s.charge("=HYPERLINK(1)", day(9), dp.One/4, 0)
	s.answer(1)
	s.owner()
	s.topUp(day(7), dp.One)
	s.charge("'quoted', \"twice\"", day(6), 109951162777, dp.One)
	books := s.save()
	file := beside(policy, "out.csv")

	for _, all := range []string{"", "--all"} {
		args := []string{"ledger", "export", "-p", policy}
		if all != "" {
			args = append(args, all)
		}
		lines := rowsOf(t, command(append(args, "--format", "jsonl")...).wants(t, 0).out)
		command(append(args, "--output", file, "--force")...).wants(t, 0, "wrote ", " rows to ")
		table, err := csv.NewReader(strings.NewReader(contents(t, file))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
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
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v: %v", info.Mode(), err)
	}

	// Somebody who knows nothing of this program recomputes the chain, and adds up what was spent,
	// exactly.
	previous, sum := "", new(big.Rat)
	for i, row := range rowsOf(t, command("ledger", "export", books, "--format", "jsonl", "--all").wants(t, 0).out) {
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
	policy := deploy(t, tenQuestions)
	s := newScribe(t, policy)
	s.charge("first", day(9), dp.One/4, 0)
	books := s.save()
	before := contents(t, books)
	there := write(t, beside(policy, "there.csv"), "mine")
	link := beside(policy, "link.csv")
	if err := os.Symlink(books, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{books, "--format", "xml"}, 2, "--format must be one of"},
		{[]string{books, "-o", there}, 2, "is there already: write to another file, or add --force"},
		{[]string{books, "-o", books, "--force"}, 2, "belongs to the ledger"},
		{[]string{books, "-o", books + "-journal", "--force"}, 2, "belongs to the ledger"},
		{[]string{books, "-o", link, "--force"}, 2, "is what is exported"},
		{[]string{"-p", policy, "-o", policy, "--force"}, 2, "or its policy"},
		{[]string{books, "-o", t.TempDir(), "--force"}, 2, "is a folder"},
		{[]string{books, "-o", "/no/such/folder/x.csv"}, 2, "there is no such folder"},
		{[]string{books + ".none"}, 1, "there is no ledger at"},
		{[]string{policy}, 2, "did you mean --policy"},
		{[]string{write(t, beside(policy, "none.ledger"), "no ledger, but no policy either")}, 1, "damaged"},
		{[]string{}, 2, "name a ledger file, or a policy"},
	} {
		command(append([]string{"ledger", "export"}, c.args...)...).wants(t, c.code, c.says)
	}
	if contents(t, books) != before || contents(t, there) != "mine" {
		t.Error("a refused export changed a file")
	}
	command("ledger", "export", books, "-o", books+".csv").wants(t, 0, "wrote 1 row to")
	command("ledger", "export", books, "-o", there, "--force").wants(t, 0, "wrote 1 row to")
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
