package pgwire

import (
	"encoding/binary"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
)

// copyEncoder writes rows as COPY does.
type copyEncoder struct {
	options *copyOptions
	columns []column
	types   func() *pgtype.Map
	begun   bool
}

// binaryHead stands before the first row of the binary format: a signature, no flags, nothing more.
const binaryHead = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// header is the line with the names, where there is one.
func (c *copyEncoder) header() []byte {
	if !c.options.header {
		return nil
	}
	var line []byte
	for i, k := range c.columns {
		line = c.field(line, i, printable(k.name), false)
	}
	return append(line, '\n')
}

// row is a row. In binary the first has the head of the file before it, in the same message: there
// are clients that look for both at once.
func (c *copyEncoder) row(values []any) ([]byte, error) {
	if len(values) != len(c.columns) {
		return nil, internal()
	}
	if c.options.format == binaryCopy {
		return c.binaryRow(values)
	}
	var line []byte
	for i, v := range values {
		text, null := textOf(v, c.columns[i].oid)
		if null {
			if i > 0 {
				line = append(line, c.options.delimiter)
			}
			line = append(line, c.options.null...)
			continue
		}
		line = c.field(line, i, text, c.options.forced(c.columns[i].name))
	}
	return append(line, '\n'), nil
}

func (c *copyEncoder) binaryRow(values []any) ([]byte, error) {
	line := binary.BigEndian.AppendUint16(c.head(), uint16(len(values)))
	for i, v := range values {
		text, null := textOf(v, c.columns[i].oid)
		if null {
			line = binary.BigEndian.AppendUint32(line, 0xffff_ffff)
			continue
		}
		data, err := binaryOf(c.types(), c.columns[i].oid, text)
		if err != nil {
			return nil, err
		}
		line = append(binary.BigEndian.AppendUint32(line, uint32(len(data))), data...)
	}
	return line, nil
}

// head is the head of the file, once.
func (c *copyEncoder) head() []byte {
	if c.begun {
		return nil
	}
	c.begun = true
	return []byte(binaryHead)
}

// trailer ends the binary format.
func (c *copyEncoder) trailer() []byte {
	if c.options.format != binaryCopy {
		return nil
	}
	return append(c.head(), 0xff, 0xff)
}

// field writes a value, with what stands before it.
func (c *copyEncoder) field(line []byte, i int, text string, force bool) []byte {
	if i > 0 {
		line = append(line, c.options.delimiter)
	}
	if c.options.format == csvCopy {
		return c.csvField(line, text, force)
	}
	for _, b := range []byte(text) {
		if at := strings.IndexByte("\b\f\n\r\t\v", b); at >= 0 {
			line = append(line, '\\', "bfnrtv"[at])
			continue
		}
		if b == '\\' || b == c.options.delimiter {
			line = append(line, '\\')
		}
		line = append(line, b)
	}
	return line
}

// csvField writes a value of a CSV file. What looks like a NULL is quoted, and so is what some
// programs take for the end of a file.
func (c *copyEncoder) csvField(line []byte, text string, force bool) []byte {
	o := c.options
	if !force && text != o.null && !(len(c.columns) == 1 && text == `\.`) &&
		!strings.ContainsAny(text, "\r\n") && strings.IndexByte(text, o.delimiter) < 0 && strings.IndexByte(text, o.quote) < 0 {
		return append(line, text...)
	}
	line = append(line, o.quote)
	for _, b := range []byte(text) {
		if b == o.quote || b == o.escape {
			line = append(line, o.escape)
		}
		line = append(line, b)
	}
	return append(line, o.quote)
}
