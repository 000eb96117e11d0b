package pgtables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
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

// signature is what a binary COPY begins with.
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

// Write implements io.Writer.
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
