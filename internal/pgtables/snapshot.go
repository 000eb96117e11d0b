package pgtables

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/policy"
)

// Snapshot is one state of the data: all tables are read in one transaction.
type Snapshot struct {
	Relations []*Relation
	Mark      Mark

	database *Database
	conn     *pgx.Conn
	tx       pgx.Tx
	sums     [][]byte
}

// Begin looks at the tables of the dataset, and whether their role may read them and nothing else.
// It has to be closed.
func (d *Database) Begin(ctx context.Context) (_ *Snapshot, err error) {
	c, tx, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{database: d, conn: c, tx: tx}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	for _, name := range d.dataset.TableNames() {
		t := d.dataset.Tables[name]
		r, err := d.relation(ctx, tx, t, Needed(d.dataset, t))
		if err != nil {
			return nil, err
		}
		if !r.marked && d.dataset.VersionQuery == "" && d.dataset.Refresh == 0 {
			return nil, d.errUnmarked(r)
		}
		s.Relations = append(s.Relations, r)
	}
	if err := d.checkRole(ctx, tx, s.Relations); err != nil {
		return nil, err
	}
	// Before any row is read: what changes from now on changes the mark as well.
	s.Mark, err = d.mark(ctx, tx, s.Relations)
	return s, err
}

// Relation finds a table by its name in the policy.
func (s *Snapshot) Relation(t *policy.Table) *Relation {
	for _, r := range s.Relations {
		if r.Name == t.Name {
			return r
		}
	}
	return nil
}

// Close ends the transaction.
func (s *Snapshot) Close() { hangUp(s.conn) }

// Copy reads all rows of a table and hands them over, some at a time. An error of take ends it, and
// is returned.
func (s *Snapshot) Copy(ctx context.Context, r *Relation, take func(*Batch) error) error {
	list := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		list[i] = pgx.Identifier{c.Name}.Sanitize()
	}
	if r.Trusted {
		// A view or a table with row security is read as the owner has made it.
		if _, err := s.tx.Exec(ctx, "SET LOCAL row_security = on"); err != nil {
			return s.database.unread(ctx, r.Table, err)
		}
	}
	sum := sha256.New()
	for _, c := range r.Columns { // the same bytes are other data where they are another table
		fmt.Fprintf(sum, "%q %q %q ", r.Name, c.Name, c.Type)
	}
	rows := newReader(r.Columns, take, sum)
	text := "COPY (SELECT " + strings.Join(list, ", ") + " FROM " + name(r.Relation) + ") TO STDOUT (FORMAT binary)"
	_, err := s.conn.PgConn().CopyTo(ctx, rows, text)
	if err == nil {
		err = rows.end()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case rows.failed != nil && !errors.Is(rows.failed, errRow):
		return rows.failed
	case err != nil:
		return s.database.unread(ctx, r.Table, err)
	}
	s.sums = append(s.sums, sum.Sum(nil))
	return nil
}
