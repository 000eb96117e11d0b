package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is PostgreSQL's limit for a name, in bytes.
const maxName = 63

// checkName returns what is wrong with the name of a table or column, or
// nothing. Names come from other people's files, so everything goes that can be
// quoted in SQL and seen on a screen.
func checkName(name string) string {
	switch {
	case name == "":
		return "is empty; give it a name"
	case len(name) > maxName:
		return "is longer than 63 bytes; rename it in the data or in a view"
	case !utf8.ValidString(name):
		return "is not valid UTF-8; rename it in the data or in a view"
	case strings.ContainsRune(name, '"'):
		return "contains a double quote; rename it in the data or in a view"
	case strings.TrimSpace(name) != name:
		return "begins or ends with a space; rename it in the data or in a view"
	}
	for _, c := range name {
		if !unicode.IsPrint(c) {
			return "contains a character that cannot be seen; rename it in the data or in a view"
		}
	}
	return ""
}

// checkShortName does the same for datasets and the like, which are named by the
// owner and appear in addresses and connection strings. For analysts see username.
func checkShortName(name string) string {
	ok := name != "" && len(name) <= 64
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_.@-", c))
	}
	if !ok {
		return "is not a name; write 1 to 64 of the characters A-Z, a-z, 0-9, _, ., @ and -"
	}
	return ""
}

// fold returns the same text for names that differ only in letter case: every
// letter becomes the smallest of the letters that Unicode folds together.
func fold(name string) string {
	return strings.Map(func(c rune) rune {
		least := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}
