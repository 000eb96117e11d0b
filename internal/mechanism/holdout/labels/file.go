package labels

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// FileError says what is wrong with a file of labels. It is for the owner: it names lines.
type FileError struct{ Problem string }

func (e *FileError) Error() string { return e.Problem }

func newFileError(format string, args ...any) error { return &FileError{fmt.Sprintf(format, args...)} }

// load reads a file of labels. It is a CSV file with a header, with tabs where its name ends in
// .tsv, and compressed where it ends in .gz.
func load(path string, s Spec) (*Labels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, newFileError("the file of labels cannot be opened: %v", err)
	}
	defer f.Close()
	var r io.Reader = f
	name, compressed := strings.CutSuffix(strings.ToLower(path), ".gz")
	if compressed {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, newFileError("the file of labels cannot be read: %v", err)
		}
	}
	comma := ','
	if strings.HasSuffix(name, ".tsv") {
		comma = '\t'
	}
	return readAll(r, s, comma)
}

// Read is load for contents that are at hand.
func Read(r io.Reader, s Spec) (*Labels, error) { return readAll(r, s, ',') }

func readAll(r io.Reader, s Spec, comma rune) (*Labels, error) {
	if s.Steps < 1 || s.Steps > maxSteps {
		return nil, newFileError("labels have from 1 to %d steps, not %d", maxSteps, s.Steps)
	}
	contents, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	switch {
	case err != nil:
		return nil, newFileError("the file of labels cannot be read: %v", err)
	case len(contents) > maxBytes:
		return nil, newFileError("the file of labels is longer than %d bytes", maxBytes)
	}
	t, err := readTable(contents, comma)
	if err != nil {
		return nil, &FileError{"the file of labels: " + err.Error()}
	}
	header, err := t.next()
	if err != nil {
		return nil, newFileError("the file of labels: %v", orEmpty(err))
	}
	label, id := slices.Index(header, s.Column), slices.Index(header, s.ID)
	switch {
	case label < 0:
		return nil, newFileError("the file of labels has no column %q; its first line must name its columns", s.Column)
	case s.ID != "" && id < 0:
		return nil, newFileError("the file of labels has no column %q for identifiers; its first line must name its columns", s.ID)
	case s.ID == s.Column:
		return nil, newFileError("the column %q cannot hold both labels and identifiers", s.Column)
	}
	l := &Labels{spec: s, version: newVersion(contents)}
	if s.ID != "" {
		l.rows = map[string]int{}
	}
	var codes []int64
	names, seen := map[string]int64{}, map[string]int64{}
	for {
		row, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, newFileError("the file of labels: %v", err)
		}
		line := t.line()
		if l.size++; l.size > maxRows {
			return nil, newFileError("the file of labels has more than %d rows", maxRows)
		}
		value, problem := clean(row[label])
		if problem != "" {
			return nil, newFileError("the file of labels: the label in line %d %s", line, problem)
		}
		code, ok := seen[value]
		if !ok {
			if code, problem = s.code(value, names); problem != "" {
				return nil, newFileError("the file of labels: the label in line %d %s", line, problem)
			}
			if len(seen) < maxKnown {
				seen[strings.Clone(value)] = code
			}
		}
		codes = append(codes, code)
		if l.rows == nil {
			continue
		}
		name, problem := clean(row[id])
		if problem != "" {
			return nil, newFileError("the file of labels: the identifier in line %d %s", line, problem)
		}
		if _, twice := l.rows[name]; twice {
			return nil, newFileError("the file of labels: the identifier in line %d appears twice; one row is one person", line)
		}
		name = strings.Clone(name) // of the name alone, and not of its row
		l.rows[name] = l.size - 1
		l.ids = append(l.ids, name)
	}
	switch {
	case l.size == 0:
		return nil, newFileError("the file of labels has no rows")
	case s.Size != 0 && s.Size != int64(l.size):
		return nil, newFileError("the file of labels has %d rows, but the policy says %d", l.size, s.Size)
	}
	l.codes = func() []int64 { return codes }
	l.names = func() map[string]int64 { return names }
	return l, nil
}

// code is the number of a label, and what is wrong with it.
func (s Spec) code(value string, names map[string]int64) (code int64, problem string) {
	if s.Steps == 1 {
		name := nameOf(value)
		if _, ok := names[name]; !ok {
			names[name] = int64(len(names))
		}
		return names[name], ""
	}
	n, exactly, ok := stepsOf(value, s.Steps)
	switch {
	case !ok:
		return 0, "is not a number from 0 to 1"
	case !exactly:
		return 0, fmt.Sprintf("is not a multiple of 1/%d; set steps in the policy", s.Steps)
	}
	return n, ""
}

// clean returns a value without spaces around it, and what is wrong with it.
func clean(text string) (value, problem string) {
	value = strings.TrimSpace(text)
	switch {
	case value == "":
		return "", "is missing"
	case len(value) > maxValue:
		return "", fmt.Sprintf("is longer than %d bytes", maxValue)
	case !utf8.ValidString(value):
		return "", "is not UTF-8"
	}
	return value, ""
}

// table reads the rows of a CSV file, and knows their lines.
type table struct{ r *csv.Reader }

// readTable refuses empty lines, which a reader of CSV skips: in a file with one column they are
// values that are missing, and everything behind them would be in another row.
func readTable(contents []byte, comma rune) (*table, error) {
	contents = bytes.TrimPrefix(contents, []byte("\xef\xbb\xbf"))
	contents = bytes.TrimRight(contents, "\r\n")
	line, quoted, empty := 1, false, true
	for _, c := range contents {
		switch {
		case c == '"':
			quoted, empty = !quoted, false
		case c == '\n':
			if empty && !quoted {
				return nil, fmt.Errorf("line %d is empty", line)
			}
			line++
			empty = true
		case c != '\r':
			empty = false
		}
	}
	r := csv.NewReader(bytes.NewReader(contents))
	r.ReuseRecord, r.Comma = true, comma
	return &table{r}, nil
}

// next returns the next row, which holds until the one after it is read.
func (t *table) next() ([]string, error) {
	row, err := t.r.Read()
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		return nil, fmt.Errorf("line %d: %w", parse.Line, parse.Err)
	case err != nil:
		return nil, err
	}
	return row, nil
}

func (t *table) line() int {
	line, _ := t.r.FieldPos(0)
	return line
}

func orEmpty(err error) error {
	if err == io.EOF {
		return errors.New("it is empty")
	}
	return err
}
