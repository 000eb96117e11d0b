package pgtext

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString writes a text as a string of JSON, as escape_json does.
func AppendString(out []byte, s string) []byte {
	out = append(out, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		case '\n':
			out = append(out, `\n`...)
		case '\r':
			out = append(out, `\r`...)
		case '\t':
			out = append(out, `\t`...)
		default:
			out = append(out, `\u00`...)
			out = append(out, hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(out, s[from:]...), '"')
}

// What is wrong with a text of JSON.
var (
	ErrJSON    = errors.New("this text is not JSON")
	ErrNumber  = errors.New("a number of the JSON is beyond the limits of numeric")
	ErrEscape  = errors.New(`the JSON has \u0000 or half of a surrogate pair, which a text cannot hold`)
	ErrNested  = errors.New("the JSON is nested too deeply")
	ErrTooLong = errors.New("the jsonb is too long")
)

// maxNested is how many arrays and objects may stand inside each other.
const maxNested = 200

// CheckJSON says whether a text is JSON. The type json keeps it as it is.
func CheckJSON(text string) error {
	_, err := walkJSON(text, nil)
	return err
}

// JSONB writes JSON as jsonb_out does: keys by length and then by bytes, of equal ones the last,
// numbers as numeric, and one space after each colon and comma. It stops beyond a number of bytes.
func JSONB(text string, most int) (string, error) {
	w := &jsonbWriter{most: most}
	if _, err := walkJSON(text, w); err != nil {
		return "", err
	}
	return string(w.out), nil
}

// jsonbWriter is what is written so far.
type jsonbWriter struct {
	out  []byte
	most int
}

// member is a key of an object, and where its value stands in what is written.
type member struct {
	key      string
	from, to int
}

// jsonReader reads a text, and writes jsonb where there is a writer.
type jsonReader struct {
	text   string
	at     int
	nested int
	to     *jsonbWriter
}

func walkJSON(text string, to *jsonbWriter) (_ int, err error) {
	r := &jsonReader{text: text, to: to}
	if err := r.value(); err != nil {
		return 0, err
	}
	if r.space(); r.at != len(text) {
		return 0, ErrJSON
	}
	return r.at, nil
}

func (r *jsonReader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next takes a character where it is the next one.
func (r *jsonReader) next(c byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *jsonReader) write(s string) error {
	if r.to == nil {
		return nil
	}
	if r.to.out = append(r.to.out, s...); len(r.to.out) > r.to.most {
		return ErrTooLong
	}
	return nil
}

func (r *jsonReader) value() error {
	r.space()
	if r.at >= len(r.text) {
		return ErrJSON
	}
	if r.nested++; r.nested > maxNested {
		return ErrNested
	}
	defer func() { r.nested-- }()
	switch c := r.text[r.at]; {
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '"':
		s, err := r.str()
		if err != nil || r.to == nil {
			return err
		}
		return r.write(string(AppendString(nil, s)))
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(r.text[r.at:], word) {
			if r.at += len(word); r.at < len(r.text) && isWordByte(r.text[r.at]) {
				return ErrJSON
			}
			return r.write(word)
		}
	}
	return ErrJSON
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

func (r *jsonReader) array() error {
	r.at++
	if err := r.write("["); err != nil {
		return err
	}
	for i := 0; !r.next(']'); i++ {
		if i > 0 {
			if !r.next(',') {
				return ErrJSON
			}
			if err := r.write(", "); err != nil {
				return err
			}
		}
		if err := r.value(); err != nil {
			return err
		}
	}
	return r.write("]")
}

func (r *jsonReader) object() error {
	r.at++
	var all []member
	begin := 0
	if r.to != nil {
		begin = len(r.to.out)
	}
	for i := 0; !r.next('}'); i++ {
		if i > 0 && !r.next(',') {
			return ErrJSON
		}
		if r.space(); r.at >= len(r.text) || r.text[r.at] != '"' {
			return ErrJSON
		}
		key, err := r.str()
		if err != nil {
			return err
		}
		if !r.next(':') {
			return ErrJSON
		}
		m := member{key: key}
		if r.to != nil {
			m.from = len(r.to.out)
		}
		if err := r.value(); err != nil {
			return err
		}
		if r.to != nil {
			m.to = len(r.to.out)
			all = append(all, m)
		}
	}
	if r.to == nil {
		return nil
	}
	return r.writeMembers(all, begin)
}

// writeMembers puts the members of an object into order.
func (r *jsonReader) writeMembers(all []member, begin int) error {
	slices.SortStableFunc(all, func(a, b member) int {
		if len(a.key) != len(b.key) {
			return len(a.key) - len(b.key)
		}
		return strings.Compare(a.key, b.key)
	})
	values := slices.Clone(r.to.out[begin:])
	r.to.out = append(r.to.out[:begin], '{')
	for i, m := range all {
		if i+1 < len(all) && all[i+1].key == m.key {
			continue
		}
		if r.to.out[len(r.to.out)-1] != '{' || len(r.to.out)-1 != begin {
			r.to.out = append(r.to.out, ", "...)
		}
		r.to.out = append(AppendString(r.to.out, m.key), ": "...)
		r.to.out = append(r.to.out, values[m.from-begin:m.to-begin]...)
	}
	return r.write("}")
}

func (r *jsonReader) number() error {
	from := r.at
	digits := func() bool {
		first := r.at
		for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
			r.at++
		}
		return r.at > first
	}
	is := func(all string) bool {
		if r.at < len(r.text) && strings.IndexByte(all, r.text[r.at]) >= 0 {
			r.at++
			return true
		}
		return false
	}
	is("-")
	if !is("0") && !digits() {
		return ErrJSON
	}
	if is(".") && !digits() {
		return ErrJSON
	}
	if is("eE") {
		is("+-")
		if !digits() {
			return ErrJSON
		}
	}
	if r.at < len(r.text) && isWordByte(r.text[r.at]) {
		return ErrJSON
	}
	if r.to == nil {
		return nil
	}
	s, ok := plainNumber(r.text[from:r.at])
	if !ok {
		return ErrNumber
	}
	return r.write(s)
}

// str reads a string. Where nobody wants to know what it says, as in the type json, it may hold
// what no text can.
func (r *jsonReader) str() (string, error) {
	r.at++
	from := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			raw := r.text[from:r.at]
			r.at++
			if r.to == nil {
				return raw, nil
			}
			return unescape(raw)
		case c < ' ':
			return "", ErrJSON
		case c == '\\':
			if r.at++; r.at >= len(r.text) {
				return "", ErrJSON
			}
			switch r.text[r.at] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if r.at+4 >= len(r.text) || !isHex(r.text[r.at+1:r.at+5]) {
					return "", ErrJSON
				}
				r.at += 4
			default:
				return "", ErrJSON
			}
		}
	}
	return "", ErrJSON
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// unescape reads what stands between the quotes of a string that is right.
func unescape(raw string) (string, error) {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw, nil
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			continue
		}
		i++
		switch c := raw[i]; c {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			x := hexRune(raw[i+1 : i+5])
			i += 4
			if utf16.IsSurrogate(x) {
				if !strings.HasPrefix(raw[i+1:], `\u`) {
					return "", ErrEscape
				}
				x = utf16.DecodeRune(x, hexRune(raw[i+3:i+7]))
				i += 6
			}
			if x == 0 || x == utf8.RuneError && !strings.EqualFold(raw[i-3:i+1], "fffd") {
				return "", ErrEscape
			}
			b.WriteRune(x)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

func hexRune(s string) rune {
	x, _ := strconv.ParseUint(s, 16, 32)
	return rune(x)
}
