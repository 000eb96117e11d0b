package curator

import (
	"database/sql"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// rewriteLast copies a ledger, with another last record that has the right hash and is the head, as
// a forger with access to the file would.
func rewriteLast(t *testing.T, from, to string, change func(*ledger.Record)) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(from)
	check(err)
	check(os.WriteFile(to, text, 0o600))
	db, err := sql.Open("sqlite", to)
	check(err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	var body, trigger string
	check(db.QueryRow("SELECT body FROM records ORDER BY sequence DESC LIMIT 1").Scan(&body))
	check(db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = 'records_not_updated'").Scan(&trigger))
	var r ledger.Record
	check(r.Decode(body))
	change(&r)
	body = r.Encode()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{"DROP TRIGGER records_not_updated", nil},
		{"UPDATE records SET body = ?, hash = ? WHERE sequence = ?", []any{body, ledger.Hash(body), r.Sequence}},
		{"UPDATE head SET hash = ?", []any{ledger.Hash(body)}},
		{trigger, nil},
	} {
		_, err := db.Exec(s.sql, s.args...)
		check(err)
	}
}
