package interpret

import (
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
)

// formatText is format() with %s, %I, %L and %%.
func formatText(c *Call) (datum.Value, error) {
	if c.Args[0] == nil {
		return nil, nil
	}
	f := c.Text(0)
	var b strings.Builder
	next := 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			b.WriteByte(f[i])
			continue
		}
		n, width := position(f[i+1:])
		if i += 1 + width; width == 0 {
			n = next
		}
		if i >= len(f) {
			return nil, Fail("22023", "unterminated format() type specifier")
		}
		if f[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if n < 1 || n >= len(c.Args) {
			return nil, Fail("22023", "too few arguments for format()")
		}
		s, err := c.formatArgument(n, f[i])
		if err != nil {
			return nil, err
		}
		next = n + 1
		if b.WriteString(s); b.Len() > maxString {
			return nil, tooLong()
		}
		if err := c.run.take(len(s)); err != nil {
			return nil, err
		}
	}
	return c.NewText(b.String())
}

// position reads which argument %1$s is about, and how long that is; 0 where it does not say.
func position(f string) (n, width int) {
	j := 0
	for j < len(f) && f[j] >= '0' && f[j] <= '9' && j < 4 {
		j++
	}
	if j == 0 || j >= len(f) || f[j] != '$' {
		return 0, 0
	}
	n, _ = strconv.Atoi(f[:j])
	return n, j + 1
}

// formatArgument writes an argument as a text, a name or a literal.
func (c *Call) formatArgument(n int, as byte) (string, error) {
	s, err := c.run.format(c.Args[n], c.Types[n])
	if err != nil {
		return "", err
	}
	switch {
	case as == 's':
		return s, nil
	case as == 'I' && c.Args[n] == nil:
		return "", Fail("22004", "null values cannot be formatted as an SQL identifier")
	case as == 'I':
		return ident.Quote(s), nil
	case as == 'L' && c.Args[n] == nil:
		return "NULL", nil
	case as == 'L':
		return quoteLiteral(s), nil
	}
	return "", Fail("22023", "unrecognized format() type specifier")
}
