package duckdb

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	memory "github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
)

// TestPrintsNoText prints questions and texts near them: no name and no text of the analyst is in
// the SQL. All that a question brings itself begins with a mark.
func TestPrintsNoText(t *testing.T) {
	for _, ds := range generate.Worlds() {
		db := generate.Make(generate.NewDice("marks", 1), ds)
		source := filepath.Join(t.TempDir(), "made.duckdb")
		file, err := sql.Open("duckdb", source)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range db.SQL() {
			if _, err := file.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		ds.Source = source
		e := open(t, ds)
		o := plan.Options{Public: memory.New(ds, db.Tables).Public()}
		m := generate.NewMaker(ds, o)
		printed := 0
		for i := range usually[uint64](400, 3000) {
			d := generate.NewDice("marks", i)
			text := m.Question(d)
			if i%2 == 1 {
				text = m.Text(d)
			}
			s, err := generate.Prepare(ds, text, o)
			if err != nil {
				continue
			}
			for _, p := range s.Plans {
				for _, st := range e.now.Statements(&p.Query) {
					printed++
					if strings.Contains(strings.ToLower(st.Text), generate.Mark) {
						t.Errorf("%s\nis printed as\n%s", text, st.Text)
					}
				}
			}
		}
		if printed < usually(150, 500) {
			t.Errorf("only %d statements were printed", printed)
		}
	}
}
