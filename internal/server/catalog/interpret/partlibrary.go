package interpret

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// partFunctions are the functions on parts of texts.
var partFunctions = []Function{
	{"substring|substr(text,int4,int4=) text", substring},
	{"left(text,int4) text", leftPart},
	{"strpos|position(text,text) int4", findText},
	{"split_part(text,text,int4) text", splitPart},
}

// part is count characters of a text. They are counted from 1, and what is before the text counts
// too.
func part(s string, from, count int64) string {
	end := int64(math.MaxInt64)
	if count < math.MaxInt64-max(from, 0) {
		end = from + count
	}
	n := int64(1)
	begin, stop := -1, len(s)
	for i := range s {
		if n >= end {
			stop = i
			break
		}
		if n >= from && begin < 0 {
			begin = i
		}
		n++
	}
	if begin < 0 || begin > stop {
		return ""
	}
	return s[begin:stop]
}

func substring(c *Call) (datum.Value, error) {
	count := int64(math.MaxInt64)
	if len(c.Args) > 2 {
		count = c.Int(2)
	}
	if count < 0 {
		return nil, Fail("22011", "negative substring length not allowed")
	}
	return c.NewText(part(c.Text(0), c.Int(1), count))
}

func leftPart(c *Call) (datum.Value, error) {
	s, n := c.Text(0), c.Int(1)
	if n < 0 {
		n = max(0, int64(utf8.RuneCountInString(s))+n)
	}
	return c.NewText(part(s, 1, n))
}

func findText(c *Call) (datum.Value, error) {
	s := c.Text(0)
	n := datum.Int(0)
	if i := strings.Index(s, c.Text(1)); i >= 0 {
		n = datum.Int(utf8.RuneCountInString(s[:i])) + 1
	}
	return n, c.run.step(1 + len(s)/64)
}

func splitPart(c *Call) (datum.Value, error) {
	s, n := c.Text(0), c.Int(2)
	if n == 0 {
		return nil, Fail("22023", "field position must not be zero")
	}
	parts := []string{s}
	if sep := c.Text(1); sep != "" {
		if err := c.run.take(16 * strings.Count(s, sep)); err != nil {
			return nil, err
		}
		parts = strings.Split(s, sep)
	}
	if n < 0 {
		n = int64(len(parts)) + n + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return datum.Text(""), nil
	}
	return c.NewText(parts[n-1])
}
