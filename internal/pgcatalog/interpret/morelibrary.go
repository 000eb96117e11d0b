package interpret

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// letterFunctions are the functions on texts that look at their characters.
var letterFunctions = []Function{
	{"initcap(text) text", mapText(capitalize)},
	{"reverse(text) text", mapText(reversed)},
	{"md5(text) text", mapText(func(s string) string {
		sum := md5.Sum([]byte(s))
		return hex.EncodeToString(sum[:])
	})},
	{"ascii(text) int4", func(c *Call) (datum.Value, error) {
		r, n := utf8.DecodeRuneInString(c.Text(0))
		if n == 0 {
			r = 0
		}
		return datum.Int(r), nil
	}},
	{"chr(int4) text", character},
	{"octet_length(text) int4", func(c *Call) (datum.Value, error) { return datum.Int(len(c.Text(0))), nil }},
	{"bit_length(text) int4", func(c *Call) (datum.Value, error) { return datum.Int(8 * len(c.Text(0))), nil }},
	{"textlen(text) int4", func(c *Call) (datum.Value, error) { return datum.Int(utf8.RuneCountInString(c.Text(0))), nil }},
	{"right(text,int4) text", rightPart},
	{"lpad(text,int4,text=) text", pad(true)},
	{"rpad(text,int4,text=) text", pad(false)},
	{"starts_with(text,text) bool", func(c *Call) (datum.Value, error) {
		return datum.Bool(strings.HasPrefix(c.Text(0), c.Text(1))), nil
	}},
	{"translate(text,text,text) text", translate},
	{"overlay(text,text,int4,int4=) text", overlay},
	{"quote_literal(text|any) text", quoted(false)},
	{"lax quote_nullable(text|any) text", quoted(true)},
	{"lax num_nulls(...any) int4", countNulls(true)},
	{"lax num_nonnulls(...any) int4", countNulls(false)},
	{"nameconcatoid(name,oid) name", func(c *Call) (datum.Value, error) {
		tail := "_" + oid.Format(uint32(c.Int(1)))
		return datum.Text(datum.Truncate(c.Text(0), 63-len(tail)) + tail), nil
	}},
}

// capitalize has the first letter of every word as a capital, and the others not.
func capitalize(s string) string {
	inside := false
	return strings.Map(func(r rune) rune {
		was := inside
		inside = unicode.IsLetter(r) || unicode.IsDigit(r)
		if was {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func reversed(s string) string {
	out := make([]byte, len(s))
	at := len(s)
	for i := 0; i < len(s); {
		_, n := utf8.DecodeRuneInString(s[i:])
		at -= n
		copy(out[at:], s[i:i+n])
		i += n
	}
	return string(out)
}

func character(c *Call) (datum.Value, error) {
	switch n := c.Int(0); {
	case n < 0:
		return nil, Fail("22023", "character number must be positive")
	case n == 0:
		return nil, Fail("54000", "null character not permitted")
	case n > 0x10ffff:
		return nil, Fail("54000", "requested character too large for encoding: %d", n)
	case !utf8.ValidRune(rune(n)):
		return nil, Fail("54000", "requested character not valid for encoding: %d", n)
	default:
		return datum.Text(string(rune(n))), nil
	}
}

func rightPart(c *Call) (datum.Value, error) {
	s, n := c.Text(0), c.Int(1)
	length := int64(utf8.RuneCountInString(s))
	from := max(0, length-n)
	if n < 0 {
		from = min(length, -n)
	}
	return c.NewText(part(s, from+1, length))
}

// pad makes lpad and rpad, which fill a text up to a number of characters, or cut it.
func pad(left bool) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		s, n, fill := c.Text(0), max(0, c.Int(1)), " "
		if len(c.Args) > 2 {
			fill = c.Text(2)
		}
		missing := n - int64(utf8.RuneCountInString(s))
		if missing <= 0 || fill == "" {
			return c.NewText(part(s, 1, n))
		}
		width := int64(utf8.RuneCountInString(fill))
		if missing > maxString || (missing/width+1)*int64(len(fill)) > maxString {
			return nil, tooLong()
		}
		filling := strings.Repeat(fill, int(missing/width)) + part(fill, 1, missing%width)
		if left {
			return c.NewText(filling + s)
		}
		return c.NewText(s + filling)
	}
}

func translate(c *Call) (datum.Value, error) {
	from, to := []rune(c.Text(1)), []rune(c.Text(2))
	if err := c.run.spend(len(from)+len(to), 8*(len(from)+len(to))); err != nil {
		return nil, err
	}
	change := map[rune]rune{}
	for i, r := range from {
		if _, ok := change[r]; ok {
			continue
		}
		if change[r] = -1; i < len(to) {
			change[r] = to[i]
		}
	}
	return c.NewText(strings.Map(func(r rune) rune {
		if by, ok := change[r]; ok {
			return by
		}
		return r
	}, c.Text(0)))
}

func overlay(c *Call) (datum.Value, error) {
	s, by, from := c.Text(0), c.Text(1), c.Int(2)
	count := int64(utf8.RuneCountInString(by))
	if len(c.Args) > 3 {
		count = c.Int(3)
	}
	if from <= 0 {
		return nil, Fail("22011", "negative substring length not allowed")
	}
	return c.NewText(part(s, 1, from-1) + by + part(s, from+count, maxString*2))
}

// quoted makes quote_literal and quote_nullable of anything.
func quoted(nulls bool) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		if c.Args[0] == nil {
			if nulls {
				return datum.Text("NULL"), nil
			}
			return nil, nil
		}
		s, err := c.run.castToText(c.Args[0], c.Types[0], oid.Text)
		if err != nil {
			return nil, err
		}
		return c.NewText(quoteLiteral(string(s.(datum.Text))))
	}
}

func countNulls(null bool) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		n := 0
		for _, v := range c.Args {
			if (v == nil) == null {
				n++
			}
		}
		return datum.Int(n), nil
	}
}
