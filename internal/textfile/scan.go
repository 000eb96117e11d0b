package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

type Shape struct {
	Delimiter rune
	// Unquoted says that a quote is a sign like others.
	Unquoted bool
	Encoding Encoding
}

// Line is a line that is no row, and why.
type Line struct {
	Number int64 // from 1, which is the header
	Reason string
}

func (l Line) String() string { return fmt.Sprintf("line %d %s", l.Number, l.Reason) }

// Report is what was found. Rows are those that are good.
type Report struct {
	Rows, Bad int64
	// Undecoded are the lines that are not UTF-8, with the header, and Foreign those that are and
	// have more than ASCII. Where the file is in another encoding nobody counts them.
	Undecoded, Foreign int64
	// First is the first bad lines, at most [Named].
	First []Line
	// Broken is where quotes are not as CSV has them, or nil. What follows it is not read.
	Broken *Line
	// Rewritten says that the copy has a row that is written in another way; see [Shape.Copied].
	Rewritten bool
}

// Named is how many bad lines are named.
const Named = 5

// maxLine is how long a row may be: DuckDB reads no longer ones.
const maxLine = 2_000_000

// Scan reads a file and says which of its lines are no rows. The first is the header, and says how
// many values a row has. Where good is not nil the header and the good rows are copied to it, in
// the shape that [Shape.Copied] says.
func Scan(r io.Reader, shape Shape, good io.Writer) (Report, error) {
	s := scanner{in: bufio.NewReaderSize(shape.Encoding.Reader(r), 1<<16), decoded: shape.Encoding != UTF8, unquoted: shape.Unquoted,
		delimiter: []byte(string(shape.Delimiter)), good: good, to: []byte(string(shape.Copied().Delimiter))}
	s.report.Rewritten = s.decoded
	if mark, err := s.in.Peek(3); err == nil && string(mark) == "\ufeff" {
		s.in.Discard(3)
	}
	for {
		err := s.record()
		if s.report.Broken != nil || errors.Is(err, io.EOF) {
			return s.report, nil
		}
		if err != nil {
			return s.report, err
		}
	}
}

type scanner struct {
	in        *bufio.Reader
	delimiter []byte
	unquoted  bool
	decoded   bool // from another encoding
	good      io.Writer
	to        []byte // the delimiter of the copy
	line      int64  // the last line that was read
	want      int    // how many values a row has; 0 before the header
	text, row []byte
	report    Report
}

// record reads one row, which is several lines where a quoted value is.
func (s *scanner) record() error {
	s.text = s.text[:0]
	begin, values, length := s.line+1, fields{}, 0
	for {
		line, err := s.next()
		if len(line) == 0 && err != nil {
			if values.open {
				s.report.Broken = &Line{begin, "has a quote that is not closed"}
			}
			return err
		}
		length += len(line)
		if length <= maxLine {
			s.text = append(s.text, line...)
		}
		if !values.read(line, s.delimiter, s.unquoted) {
			s.report.Broken = &Line{s.line, "has something between a closing quote and the next delimiter"}
			return nil
		}
		if values.open {
			continue
		}
		return s.judge(begin, values, length)
	}
}

// next returns the next line with its end, however long it is.
func (s *scanner) next() ([]byte, error) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			var more []byte
			more, err = s.in.ReadSlice('\n')
			line = append(line, more...)
		}
	}
	if len(line) > 0 {
		s.line++
		err = nil
	}
	return line, err
}

func (s *scanner) judge(begin int64, values fields, length int) error {
	blank := len(ended(s.text)) == 0
	readable := s.readable()
	if s.want == 0 && !blank {
		s.want = values.count
		return s.copy(values)
	}
	if blank && length <= maxLine {
		return s.copy(fields{}) // an empty line is none; where there is one column, that is for the reader to say
	}
	reason := ""
	switch {
	case length > maxLine:
		reason = fmt.Sprintf("is longer than %d bytes", maxLine)
	case values.count < s.want || values.last > s.want:
		reason = fmt.Sprintf("has %d values, but the header has %d", max(values.count, values.last), s.want)
	case values.returns:
		reason = "has a carriage return inside"
	case !readable:
		reason = "is not UTF-8"
	}
	if reason == "" {
		s.report.Rows++
		return s.copy(values)
	}
	s.report.Bad++
	if len(s.report.First) < Named {
		s.report.First = append(s.report.First, Line{begin, reason})
	}
	return nil
}

// readable reports whether a row is UTF-8, and counts it.
func (s *scanner) readable() bool {
	switch n := len(s.text); {
	case s.decoded:
	case !utf8.Valid(s.text):
		s.report.Undecoded++
		return false
	case utf8.RuneCount(s.text) != n:
		s.report.Foreign++
	}
	return true
}

// copy copies a row, and writes it anew where it is not plain.
func (s *scanner) copy(values fields) error {
	other := values.count > 0 && (values.count > s.want || values.blanks || !bytes.Equal(s.to, s.delimiter))
	s.report.Rewritten = s.report.Rewritten || other
	if s.good == nil {
		return nil
	}
	if other {
		s.plain()
	}
	_, err := s.good.Write(s.text)
	if err == nil && !bytes.HasSuffix(s.text, []byte("\n")) {
		_, err = s.good.Write([]byte("\n"))
	}
	return err
}

// fields counts the values of a row as its lines come in.
type fields struct {
	count   int  // values, whatever is in them
	last    int  // the last that is not empty
	open    bool // a quoted value is not ended yet
	returns bool // a carriage return is where no line ends, outside of quotes
	blanks  bool // there are blanks beside quotes
}

// read takes one more line, and reports whether its quotes are as CSV has them.
func (f *fields) read(line, delimiter []byte, unquoted bool) bool {
	body := ended(line)
	if f.open {
		// The end of a line inside quotes belongs to the text, with all of its bytes.
		rest, ok := f.quoted(line)
		if f.open || !ok {
			return ok
		}
		return f.rest(ended(rest), delimiter, unquoted, true)
	}
	return f.rest(body, delimiter, unquoted, false)
}

// ended is a line without its end, which has one carriage return at most. With one more DuckDB ends
// the row before it, and takes what is left for the beginning of the next row, which is somebody
// else's.
func ended(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// rest reads values to the end of a line. After says that a quoted value has just ended.
func (f *fields) rest(body, delimiter []byte, unquoted, after bool) bool {
	for {
		if after {
			before := len(body)
			body = trim(body, delimiter)
			f.blanks = f.blanks || len(body) != before
			if len(body) == 0 {
				return true
			}
			if !bytes.HasPrefix(body, delimiter) {
				return false
			}
			body, after = body[len(delimiter):], false
		}
		f.count++
		if start := trim(body, delimiter); !unquoted && len(start) > 0 && start[0] == '"' {
			f.open, f.last = true, f.count
			f.blanks = f.blanks || len(start) != len(body)
			rest, ok := f.quoted(start[1:])
			if f.open || !ok {
				return ok
			}
			body, after = rest, true
			continue
		}
		value, more, found := bytes.Cut(body, delimiter)
		if len(value) > 0 {
			f.last = f.count
			f.returns = f.returns || bytes.IndexByte(value, '\r') >= 0
		}
		if !found {
			return true
		}
		body = more
	}
}

// quoted reads a quoted value to its end, and returns what follows it.
func (f *fields) quoted(text []byte) ([]byte, bool) {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return nil, true
		}
		if text = text[i+1:]; len(text) == 0 || text[0] != '"' {
			f.open = false
			return text, true
		}
		text = text[1:]
	}
}

// trim leaves blanks before a quote and after one out, unless they are what separates values.
func trim(text, delimiter []byte) []byte {
	if delimiter[0] == ' ' {
		return text
	}
	return bytes.TrimLeft(text, " ")
}

// Copied is the shape of the copy, which is in UTF-8. Where values may stand in quotes, a delimiter
// of several bytes is a comma there.
func (s Shape) Copied() Shape {
	s.Encoding = UTF8
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
