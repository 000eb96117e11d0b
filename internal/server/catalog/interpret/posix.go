package interpret

import "strings"

func badPattern(why string) error { return Fail("2201B", "invalid regular expression: %s", why) }

// posixSource writes an expression of PostgreSQL as RE2 has it. What RE2 has no word for is
// refused.
func posixSource(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			if i++; i >= len(text) {
				return "", badPattern("invalid escape \\ sequence")
			}
			if err := escape(&b, text[i]); err != nil {
				return "", err
			}
		case c == '[':
			n, err := bracket(&b, text[i+1:])
			if err != nil {
				return "", err
			}
			i += n
		case c == '(' && strings.HasPrefix(text[i:], "(?") && !strings.HasPrefix(text[i:], "(?:"):
			return "", badPattern("look-around is not supported")
		case c == '$':
			b.WriteString(`\z`)
		case c == '^':
			b.WriteString(`\A`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// escape writes what follows a backslash.
func escape(b *strings.Builder, c byte) error {
	letter := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	if letter && strings.IndexByte("dDwWsSntrfv", c) < 0 {
		return badPattern("the escape \\" + string(rune(c)) + " is not supported")
	}
	if c < 0x80 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
	return nil
}

// bracket writes a bracket expression, and says how long it is. It ends at the first ] that is not
// its first character. RE2 needs its [ and \ escaped.
func bracket(b *strings.Builder, text string) (int, error) {
	j := 0
	b.WriteByte('[')
	if strings.HasPrefix(text, "^") {
		b.WriteByte('^')
		j++
	}
	for first := true; j < len(text) && (text[j] != ']' || first); first = false {
		switch {
		case strings.HasPrefix(text[j:], "[:"):
			end := strings.Index(text[j:], ":]")
			if end < 0 {
				return 0, badPattern("brackets [] not balanced")
			}
			b.WriteString(text[j : j+end+2])
			j += end + 2
			continue
		case text[j] == '[' || text[j] == ']':
			b.WriteByte('\\')
		case text[j] == '\\':
			b.WriteByte('\\')
			if j++; j >= len(text) {
				return 0, badPattern("invalid escape \\ sequence")
			}
		}
		b.WriteByte(text[j])
		j++
	}
	if j >= len(text) {
		return 0, badPattern("brackets [] not balanced")
	}
	b.WriteByte(']')
	return j + 1, nil
}
