package csvlines

import (
	"bytes"
	"slices"
)

// Copied is the shape of the copy. Where values may stand in quotes, a delimiter of several bytes
// is a comma there.
func (s Shape) Copied() Shape {
	if len(string(s.Delimiter)) > 1 && !s.Unquoted {
		s.Delimiter = ','
	}
	return s
}

// plain writes a row anew, with as many values as the header has, without blanks beside quotes, and
// with the delimiter of the copy.
//
// DuckDB takes a file in buffers, and of a row over whose middle one of them ends it reads blanks
// after a quote as part of the value, and where the delimiter has several bytes it loses doubled
// quotes, and rows with delimiters at their end. Where a buffer ends follows from the lengths of
// all rows before, so one person's row would decide about somebody else's. What is plain it reads
// the same everywhere.
func (s *scanner) plain() {
	rest := ended(s.text)
	end := s.text[len(rest):]
	s.row = s.row[:0]
	for i := range s.want {
		if i > 0 {
			s.row = append(s.row, s.to...)
		}
		var value []byte
		value, rest = s.value(rest)
		quoted := len(value) > 0 && value[0] == '"' && !s.unquoted
		if !quoted && !bytes.Equal(s.to, s.delimiter) && (bytes.Contains(value, s.to) || bytes.IndexByte(value, '"') >= 0) {
			value = slices.Concat([]byte{'"'}, bytes.ReplaceAll(value, []byte{'"'}, []byte(`""`)), []byte{'"'})
		}
		s.row = append(s.row, value...)
	}
	s.row = append(s.row, end...)
	s.text, s.row = s.row, s.text
}

// value cuts the first value off a good row, with its quotes and without the blanks beside them.
func (s *scanner) value(row []byte) (value, rest []byte) {
	start := trim(row, s.delimiter)
	if s.unquoted || len(start) == 0 || start[0] != '"' {
		value, rest, _ = bytes.Cut(row, s.delimiter)
		return value, rest
	}
	rest, _ = new(fields).quoted(start[1:])
	value = start[:len(start)-len(rest)]
	return value, bytes.TrimPrefix(trim(rest, s.delimiter), s.delimiter)
}
