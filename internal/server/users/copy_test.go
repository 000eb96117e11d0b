package users

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

// TestCopy: users who move between a file and a database come in with what they had, and who was
// revoked does not.
func TestCopy(t *testing.T) {
	f := setUp(t)
	ben, err := f.Add(ctx, "ben", Owner, "")
	must(t, err)
	secret, kept, err := f.NewToken(ctx, "ana", "dashboard", time.Time{})
	must(t, err)
	gone, revoked, err := f.NewToken(ctx, "ana", "old", time.Time{})
	must(t, err)
	must(t, f.RevokeToken(ctx, revoked.ID))
	must(t, second(login(f.Store, from("ana", home), f.password)))
	denied(t, second(login(f.Store, from("zoe", home), "wrong")))
	must(t, f.Revoke(ctx, "ben"))
	for i := range rowsAtOnce { // more rows than one statement writes
		must(t, second(f.Add(ctx, fmt.Sprintf("user%d", i), Analyst, "")))
	}
	must(t, second(f.db.Exec(`INSERT INTO main.saved (id, kind, "user", dataset, shared, title, body, created, changed)
VALUES ('x', 'question', 'ana', 'hospital', 1, 'Größe', 'SELECT 1', 1, 2)`)))
	known := []string{"secret", "visits"} // the one is copied by hand, and the other is not
	for _, c := range copied {
		known = append(known, c.table)
	}
	rows, err := f.db.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
	must(t, err)
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		if !slices.Contains(known, name) {
			t.Errorf("the table %s is not copied", name)
		}
	}
	must(t, rows.Err())
	must(t, f.Close())

	shared(t)
	database, back := nowhere(t), filepath.Join(t.TempDir(), "back.users")
	if _, err := Copy(ctx, filepath.Join(t.TempDir(), "none"), database); !errors.Is(err, ErrNone) {
		t.Errorf("of none: %v", err)
	}
	var all [][][][]any
	for _, way := range [][2]string{{f.path, database}, {database, back}} {
		n, err := Copy(ctx, way[0], way[1])
		if err != nil || n.Users != 2+rowsAtOnce || n.Tokens != 2 || n.Logins < 2 || n.Saved != 1 {
			t.Fatalf("%+v, %v", n, err)
		}
		if _, err := Copy(ctx, way[0], way[1]); !errors.Is(err, ErrOccupied) {
			t.Errorf("a second time: %v", err)
		}
		s, err := openAt(way[1], false, f.hand.now)
		must(t, err)
		rows, err := s.contents(ctx)
		must(t, err)
		all = append(all, rows)
		if string(s.salt("nobody")) != string(f.salt("nobody")) {
			t.Error("names that nobody has look new")
		}
		must(t, s.Close())
	}
	if !reflect.DeepEqual(all[0], all[1]) {
		t.Error("on the way back something has changed")
	}
	for _, where := range []string{database, back} {
		s, err := openAt(where, false, f.hand.now)
		must(t, err)
		must(t, second(login(s, from("ana", home), f.password)))
		denied(t, second(login(s, from("ben", home), ben)))
		must(t, second(s.Token(ctx, Attempt{}, secret)))
		denied(t, second(s.Token(ctx, Attempt{}, gone)))
		if tokens, err := s.Tokens(ctx, "ana"); err != nil || len(tokens) != 2 || tokens[0].ID != kept.ID && tokens[1].ID != kept.ID {
			t.Errorf("%+v, %v", tokens, err)
		}
		must(t, s.Close())
	}
}
