package interpret

import (
	"regexp"
	"strings"
)

// posixSource writes an expression of PostgreSQL as RE2 has it. What RE2 has no word for is refused.
func posixSource(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "***="); ok {
		return regexp.QuoteMeta(rest), nil
	}
	if rest, ok := strings.CutPrefix(text, "***:"); ok {
		text = rest
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case '\\':
			i++
			if i >= len(text) {
				return "", Fail("2201B", "invalid regular expression: invalid escape \\ sequence")
			}
			switch d := text[i]; d {
			case 'd', 'D', 'w', 'W', 's', 'S', 'A', 'B', 'n', 't', 'r', 'f', 'v':
				b.WriteByte('\\')
				b.WriteByte(d)
			case 'y':
				b.WriteString(`\b`)
			case 'Y':
				b.WriteString(`\B`)
			case 'm', 'M':
				b.WriteString(`\b`)
			case 'Z':
				b.WriteString(`\z`)
			default:
				if d >= '0' && d <= '9' || d >= 'a' && d <= 'z' || d >= 'A' && d <= 'Z' {
					return "", Fail("2201B", "invalid regular expression: the escape \\%c is not supported", d)
				}
				if d < 0x80 {
					b.WriteByte('\\')
				}
				b.WriteByte(d)
			}
		case '[':
			// A bracket expression ends at the first ] that is not its first character. RE2 needs its [ and \ escaped.
			j := i + 1
			b.WriteByte('[')
			if j < len(text) && text[j] == '^' {
				b.WriteByte('^')
				j++
			}
			for first := true; ; first = false {
				if j >= len(text) {
					return "", Fail("2201B", "invalid regular expression: brackets [] not balanced")
				}
				if text[j] == ']' && !first {
					break
				}
				switch {
				case strings.HasPrefix(text[j:], "[:"):
					end := strings.Index(text[j:], ":]")
					if end < 0 {
						return "", Fail("2201B", "invalid regular expression: brackets [] not balanced")
					}
					b.WriteString(text[j : j+end+2])
					j += end + 2
					continue
				case text[j] == '[' || text[j] == ']':
					b.WriteByte('\\')
				case text[j] == '\\':
					b.WriteByte('\\')
					if j++; j >= len(text) {
						return "", Fail("2201B", "invalid regular expression: invalid escape \\ sequence")
					}
				}
				b.WriteByte(text[j])
				j++
			}
			b.WriteByte(']')
			i = j
		case '(':
			if strings.HasPrefix(text[i:], "(?") && !strings.HasPrefix(text[i:], "(?:") {
				return "", Fail("2201B", "invalid regular expression: look-around is not supported")
			}
			b.WriteByte(c)
		case '$':
			b.WriteString(`\z`)
		case '^':
			b.WriteString(`\A`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}
