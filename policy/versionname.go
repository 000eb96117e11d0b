package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxVersionName is how long the owner's name for the data may be, in bytes.
const maxVersionName = 200

// CheckVersionName returns what is wrong with a name that is to be printed and recorded.
func CheckVersionName(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is an empty text; select something that changes with the data"
	case len(text) > maxVersionName:
		return fmt.Sprintf("is %d bytes long, and the most is %d; select md5(...) of it", len(text), maxVersionName)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "has characters that cannot be printed in a line; select md5(...) of it"
	}
	return ""
}
