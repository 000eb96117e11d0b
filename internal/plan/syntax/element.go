package syntax

import "strings"

// MaxElements is how many elements an array can have: as many as a list could that is written out.
const MaxElements = 2000

// Elements reads the text of an array of one dimension and at most so many elements, as in {a,"b
// c",NULL}. NULL is nil.
func Elements(text string, most int) ([]*string, bool) {
	r := arrayReader{text: strings.TrimSpace(text)}
	if !r.skip('{') {
		return nil, false
	}
	var out []*string
	if r.blank(); r.skip('}') {
		return out, r.rest() == ""
	}
	for len(out) < most {
		e, ok := r.element()
		if !ok {
			return nil, false
		}
		out = append(out, e)
		if r.blank(); r.skip(',') {
			continue
		}
		return out, r.skip('}') && r.rest() == ""
	}
	return nil, false
}

// arrayReader reads the text of an array.
type arrayReader struct {
	text string
	at   int
}

const arrayBlank = " \t\n\r\v\f"

func (r *arrayReader) rest() string { return r.text[r.at:] }

func (r *arrayReader) blank() { r.at = len(r.text) - len(strings.TrimLeft(r.rest(), arrayBlank)) }

func (r *arrayReader) skip(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// element reads one element: in quotes, or as it stands.
func (r *arrayReader) element() (*string, bool) {
	if r.blank(); r.skip('"') {
		return r.until('"')
	}
	var b strings.Builder
	end, escaped := 0, false // blanks at the end are none of it
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch c {
		case ',', '}':
			out := b.String()[:end]
			if out == "" {
				return nil, false
			}
			if strings.EqualFold(out, "null") && !escaped {
				return nil, true
			}
			return &out, true
		case '{', '"':
			return nil, false
		case '\\':
			if r.at++; r.at == len(r.text) {
				return nil, false
			}
			c, escaped = r.text[r.at], true
			b.WriteByte(c)
			end = b.Len()
			continue
		}
		if b.WriteByte(c); strings.IndexByte(arrayBlank, c) < 0 {
			end = b.Len()
		}
	}
	return nil, false
}

// until reads up to a closing quote.
func (r *arrayReader) until(quote byte) (*string, bool) {
	var b strings.Builder
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		if c == quote {
			r.at++
			out := b.String()
			return &out, true
		}
		if c == '\\' {
			if r.at++; r.at == len(r.text) {
				return nil, false
			}
			c = r.text[r.at]
		}
		b.WriteByte(c)
	}
	return nil, false
}
