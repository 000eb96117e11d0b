package ident

import "strings"

// Split splits a name such as public."My table" into its parts, as SQL reads them.
func Split(s string) ([]string, bool) {
	var parts []string
	i := 0
	s = strings.TrimSpace(s)
	for {
		var b strings.Builder
		switch {
		case i < len(s) && s[i] == '"':
			closed := false
			for i++; i < len(s); i++ {
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						i++
					} else {
						closed = true
						i++
						break
					}
				}
				b.WriteByte(s[i])
			}
			if !closed {
				return nil, false
			}
		default:
			for i < len(s) && s[i] != '.' && s[i] != '"' {
				b.WriteByte(s[i])
				i++
			}
		}
		text := b.String()
		if text == "" {
			return nil, false
		}
		if !strings.HasSuffix(s[:i], `"`) {
			text = strings.ToLower(strings.TrimSpace(text))
		}
		if parts = append(parts, text); i == len(s) {
			return parts, len(parts) <= 3
		}
		if s[i] != '.' {
			return nil, false
		}
		i++
	}
}
