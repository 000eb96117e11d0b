package pgtables

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/source/pgdial"
)

// reader takes the rows of a binary COPY as they come, which may be cut anywhere.
type reader struct {
	columns []Column
	read    []decode
	take    func(*Batch) error
	sum     hash.Hash

	batch  *Batch
	held   int    // bytes of its rows
	rest   []byte // of a row that is not whole yet
	begun  bool
	ended  bool
	failed error
}

var signature = []byte("PGCOPY\n\xff\r\n\x00")

var (
	errRow = errors.New("pgtables: a row that cannot be read")
	errEnd = errors.New("pgtables: the rows of the database do not end as they should")
)

func newReader(columns []Column, take func(*Batch) error, sum hash.Hash) *reader {
	r := &reader{columns: columns, take: take, sum: sum, batch: newBatch(len(columns))}
	for _, c := range columns {
		r.read = append(r.read, decoders[c.Kind])
	}
	return r
}

func (r *reader) Write(p []byte) (int, error) {
	n := len(p)
	if r.failed != nil {
		return 0, r.failed
	}
	r.sum.Write(p)
	if len(r.rest) > 0 {
		r.rest = append(r.rest, p...)
		p = r.rest
	}
	left, err := r.rows(p)
	if err != nil {
		r.failed = err
		return 0, err
	}
	r.rest = append(r.rest[:0], left...)
	return n, nil
}

// rows reads all rows that are whole, and returns what is left.
func (r *reader) rows(p []byte) ([]byte, error) {
	if !r.begun {
		if len(p) < len(signature)+8 {
			return p, nil
		}
		extension := int(int32(binary.BigEndian.Uint32(p[len(signature)+4:])))
		if !bytes.HasPrefix(p, signature) || extension != 0 || binary.BigEndian.Uint32(p[len(signature):]) != 0 {
			return nil, errRow
		}
		r.begun, p = true, p[len(signature)+8:]
	}
	for len(p) >= 2 {
		if r.ended {
			return nil, errRow
		}
		fields := int16(binary.BigEndian.Uint16(p))
		if fields == -1 {
			r.ended, p = true, p[2:]
			continue
		}
		if int(fields) != len(r.columns) {
			return nil, errRow
		}
		next, whole, err := r.row(p[2:])
		if err != nil {
			return nil, err
		}
		if !whole {
			return p, nil
		}
		p = next
	}
	return p, nil
}

// row reads a row, where all of it is there.
func (r *reader) row(p []byte) (rest []byte, whole bool, err error) {
	from := p
	for range r.columns {
		if len(p) < 4 {
			return nil, false, nil
		}
		n := int32(binary.BigEndian.Uint32(p))
		p = p[4:]
		if n < -1 {
			return nil, false, errRow
		}
		if n = max(n, 0); len(p) < int(n) {
			return nil, false, nil
		}
		p = p[n:]
	}
	b := r.batch
	r.held += len(from) - len(p)
	for i := range r.columns {
		n := int32(binary.BigEndian.Uint32(from))
		from = from[4:]
		v := &b.Columns[i]
		if n < 0 {
			v.null(b.N)
			continue
		}
		if !r.read[i](v, b.N, from[:n], &r.columns[i]) {
			return nil, false, errRow
		}
		from = from[n:]
	}
	if b.N++; b.N == BatchRows || r.held > mostBytes {
		if err := r.give(); err != nil {
			return nil, false, err
		}
	}
	return p, true, nil
}

func (r *reader) give() error {
	if r.batch.N == 0 {
		return nil
	}
	err := r.take(r.batch)
	r.batch.clear()
	r.held = 0
	return err
}

// end hands over what is left. The last thing that came must have been the end.
func (r *reader) end() error {
	if r.failed != nil {
		return r.failed
	}
	if !r.ended || len(r.rest) > 0 {
		return errEnd
	}
	return r.give()
}

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
	var counted bool
	if err := tx.QueryRow(ctx, "SELECT current_setting('track_counts') = 'on' OR pg_is_in_recovery()").Scan(&counted); err != nil {
		return nil, d.roleUnread(ctx, err)
	}
	for _, name := range d.dataset.TableNames() {
		t := d.dataset.Tables[name]
		r, err := d.relation(ctx, tx, t, Needed(d.dataset, t))
		if err != nil {
			return nil, err
		}
		r.marked = r.marked && counted
		if !r.marked && d.dataset.VersionQuery == "" && d.dataset.Refresh == 0 {
			return nil, d.errUnmarked(r)
		}
		s.Relations = append(s.Relations, r)
	}
	if err := d.checkBlanks(s.Relations); err != nil {
		return nil, err
	}
	if err := d.checkRole(ctx, tx, s.Relations); err != nil {
		return nil, err
	}
	// Before any row is read: what changes from now on changes the mark as well.
	text, args := d.question(s.Relations)
	rows, err := tx.Query(ctx, text, args...)
	s.Mark, err = d.mark(ctx, rows, err)
	return s, err
}

func (s *Snapshot) Close() { pgdial.HangUp(s.conn) }

// ErrMoved is returned where a table was made another one while it was read. What was read of it
// may be no state that it was ever in.
var ErrMoved = errors.New("the tables of the PostgreSQL database were changed while they were being read; ask again")

// prepare makes ready to read a table. Its names are resolved as they are now, and not as they were
// when the transaction began: where it is another one by now, or its columns are of other types,
// nothing is read. It stays as it is from here on until the transaction ends.
func (s *Snapshot) prepare(ctx context.Context, r *Relation) error {
	set := "SET LOCAL row_security = off"
	if r.Trusted { // a view or a table with row security is read as the owner has made it
		set = "SET LOCAL row_security = on"
	}
	if _, err := s.tx.Exec(ctx, set); err != nil {
		return s.database.unread(ctx, r.Table, err)
	}
	if s.conn.PgConn().ParameterStatus("server_encoding") == "SQL_ASCII" {
		// The database would look whether texts are UTF-8, and fail over one that is not.
		if _, err := s.tx.Exec(ctx, "SET LOCAL client_encoding = 'SQL_ASCII'"); err != nil {
			return s.database.unread(ctx, r.Table, err)
		}
	}
	list := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		list[i] = pgx.Identifier{c.Name}.Sanitize()
	}
	now, err := s.conn.PgConn().Prepare(ctx, "", "SELECT "+strings.Join(list, ", ")+" FROM "+name(r.Relation), nil)
	if err != nil {
		return s.database.unread(ctx, r.Table, err)
	}
	for i, c := range r.Columns {
		if f := now.Fields[i]; f.TableOID != r.oid || f.DataTypeOID != c.typ || f.TypeModifier != c.modifier {
			return ErrMoved
		}
	}
	return nil
}

// Tables that are in another file than when the transaction began, whose rows it does not see: they
// were emptied or written anew.
const findMoved = parts + `SELECT count(*) FROM pg_class c JOIN part p ON p.oid = c.oid WHERE c.relfilenode <> 0
AND c.relfilenode IS DISTINCT FROM pg_relation_filenode(c.oid)`

// Whole looks, after all was read, whether it was one state of the data.
func (s *Snapshot) Whole(ctx context.Context) error {
	var moved int
	if err := s.tx.QueryRow(ctx, findMoved, oidsOf(s.Relations)).Scan(&moved); err != nil {
		return s.database.roleUnread(ctx, err)
	}
	if moved > 0 {
		return ErrMoved
	}
	return nil
}

// Copy reads all rows of a table and hands them over, some at a time. An error of take ends it, and
// is returned.
func (s *Snapshot) Copy(ctx context.Context, r *Relation, take func(*Batch) error) error {
	list := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		list[i] = c.read()
	}
	if err := s.prepare(ctx, r); err != nil {
		return err
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

func (s *Snapshot) Hash() string {
	h := sha256.New()
	for _, sum := range s.sums {
		h.Write(sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}
