package interpret

import (
	"strings"
	"unicode"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

const maxBits = 1000 // of a bit string, which is kept as the text of its bits

// bitConstant is a bit string such as B'0101' or X'1f'.
func bitConstant(text string) (*expr, error) {
	bits, ok := "", len(text) > 0 && len(text) <= maxBits
	for _, c := range text[min(1, len(text)):] {
		digit := strings.IndexRune("0123456789abcdef", unicode.ToLower(c))
		switch {
		case text[0] == 'b' && (digit == 0 || digit == 1):
			bits += string(c)
		case text[0] == 'x' && digit >= 0:
			bits += binary(int64(digit), 4)
		default:
			ok = false
		}
	}
	if !ok || len(bits) > maxBits {
		return nil, Fail("22P02", "%q is not a valid bit string", clip(text))
	}
	return constant(oid.Bit, datum.Text(bits)), nil
}

// binary are the last bits of a number.
func binary(n int64, width int) string {
	out := make([]byte, width)
	for i := range out {
		shift := width - 1 - i
		out[i] = '0' + byte(n>>min(shift, 63)&1)
	}
	return string(out)
}

// bitCast makes a bit string of so many bits of a number or of another: the last ones of the one,
// the first ones of the other.
func bitCast(x *expr, c *pg.TypeCast, width int64) (*expr, error) {
	if width < 1 {
		width = 1
	}
	if width > maxBits {
		return nil, locate(Fail("54000", "a bit string has more than %d bits", maxBits), c.Location)
	}
	w := int(width)
	inner := x.eval
	return &expr{typ: oid.Bit, eval: func(e *env) (datum.Value, error) {
		v, err := inner(e)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case datum.Int:
			return e.run.text(binary(int64(v), w))
		case datum.Text:
			s := string(v)
			if strings.Trim(s, "01") != "" {
				return nil, Fail("22P02", "%q is not a valid binary digit", clip(s))
			}
			return e.run.text((s + strings.Repeat("0", w))[:w])
		}
		return nil, nil
	}}, nil
}

// bitwise binds & | and # on two bit strings of the same length. It returns nil for other sides.
func (b operatorBinder) bitwise(op string, l, r *expr) *expr {
	if l.typ != oid.Bit || r.typ != oid.Bit || !strings.Contains("&|#", op) {
		return nil
	}
	return strict(oid.Bit, l, r, func(run *run, x, y datum.Value) (datum.Value, error) {
		p, q := string(x.(datum.Text)), string(y.(datum.Text))
		if len(p) != len(q) {
			return nil, Fail("22026", "cannot %s bit strings of different sizes", map[string]string{"&": "AND", "|": "OR", "#": "XOR"}[op])
		}
		out := make([]byte, len(p))
		for i := range out {
			m, n := p[i]-'0', q[i]-'0'
			out[i] = '0' + map[string]byte{"&": m & n, "|": m | n, "#": m ^ n}[op]
		}
		return run.text(string(out))
	})
}
