package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Saved is something that a user has saved: a question, or a page of them. What is in it is the
// business of the interface that it came by, and who may see it is that of the policy.
type Saved struct {
	ID      string // of 160 bits: who was not given it cannot guess it
	Kind    string
	User    string // who made it
	Dataset string
	Shared  bool // with those who may ask about the dataset
	Title   string
	Body    string
	Created time.Time
	Changed time.Time
}

var ErrNoSaved = errors.New("there is no such saved item")

// FullError: a user has saved as many as may be.
type FullError struct{ Most int }

func (e *FullError) Error() string {
	return fmt.Sprintf("you have saved %d of them, which is the maximum", e.Most)
}

// maxShared is how many of a dataset are listed, those that were changed last.
const maxShared = 1000

const savedColumns = `id, kind, "user", dataset, shared, title, created, changed`

func scanSaved(scan func(...any) error, more ...any) (s Saved, err error) {
	var shared, created, changed int64
	err = scan(append([]any{&s.ID, &s.Kind, &s.User, &s.Dataset, &shared, &s.Title, &created, &changed}, more...)...)
	s.Shared, s.Created, s.Changed = shared != 0, unstamp(created), unstamp(changed)
	return s, err
}

// SavedItems are what users have saved. It is safe for concurrent use.
type SavedItems struct {
	*storage
}

// Add saves something new under an id that is drawn. Of one kind a user has so many at most.
func (s *SavedItems) Add(ctx context.Context, n Saved, most int) (Saved, error) {
	n.ID = alphabet.EncodeToString(random(20))
	n.Created = unstamp(stamp(s.now()))
	n.Changed = n.Created
	var full error
	err := s.change(ctx, func(tx *sql.Tx) error {
		var count int
		if err := tx.QueryRow(`SELECT COUNT(*) FROM main.saved WHERE "user" = ? AND kind = ?`, n.User, n.Kind).Scan(&count); err != nil {
			return err
		}
		if count >= most {
			full = &FullError{most}
			return nil
		}
		_, err := tx.Exec(`INSERT INTO main.saved (id, kind, "user", dataset, shared, title, body, created, changed)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, n.ID, n.Kind, n.User, n.Dataset, boolBit(n.Shared), n.Title, n.Body, stamp(n.Created), stamp(n.Changed))
		return err
	})
	return n, errors.Join(err, full)
}

func (s *SavedItems) Find(ctx context.Context, kind, id string) (Saved, error) {
	var body string
	row := s.db.QueryRowContext(ctx, "SELECT "+savedColumns+", body FROM main.saved WHERE id = ? AND kind = ?", id, kind)
	out, err := scanSaved(row.Scan, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Saved{}, ErrNoSaved
	case err != nil:
		return Saved{}, s.explain(ctx, err)
	}
	out.Body = body
	return out, nil
}

// ByUser lists what a user has saved of a kind, without what is in it, the newest change first.
func (s *SavedItems) ByUser(ctx context.Context, kind, name string) ([]Saved, error) {
	return s.list(ctx, `"user" = ? AND kind = ? ORDER BY changed DESC, id`, name, kind)
}

// SharedIn lists what is shared in a dataset, in the same way.
func (s *SavedItems) SharedIn(ctx context.Context, kind, dataset string) ([]Saved, error) {
	return s.list(ctx, "dataset = ? AND kind = ? AND shared = 1 ORDER BY changed DESC, id LIMIT ?", dataset, kind, maxShared)
}

func (s *SavedItems) list(ctx context.Context, where string, args ...any) ([]Saved, error) {
	scan := func(r *sql.Rows) (Saved, error) { return scanSaved(r.Scan) }
	return selectAll(ctx, s.storage, scan, "SELECT "+savedColumns+" FROM main.saved WHERE "+where, args...)
}

// Replace puts something else in the place of what its user has saved.
func (s *SavedItems) Replace(ctx context.Context, n Saved) (Saved, error) {
	n.Changed = unstamp(stamp(s.now()))
	err := s.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.Exec(`UPDATE main.saved SET dataset = ?, shared = ?, title = ?, body = ?, changed = ?
			WHERE id = ? AND kind = ? AND "user" = ?`, n.Dataset, boolBit(n.Shared), n.Title, n.Body, stamp(n.Changed), n.ID, n.Kind, n.User)
		return expectOneRow(done, err, ErrNoSaved)
	})
	return n, err
}

func (s *SavedItems) Remove(ctx context.Context, kind, id string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		done, err := tx.Exec("DELETE FROM main.saved WHERE id = ? AND kind = ?", id, kind)
		return expectOneRow(done, err, ErrNoSaved)
	})
}
