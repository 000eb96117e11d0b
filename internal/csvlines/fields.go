package csvlines

import "bytes"

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
