// Package username has the one rule of what people are called: analysts in a policy, and whoever
// logs in.
package username

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xdg-go/stringprep"
)

// longest is in bytes.
const longest = 64

const Rule = "write 1 to 64 bytes of letters and digits, in the form that SASLprep (RFC 4013) gives them, and of _ . @ -"

// Check says what is wrong with a name, or nothing. Names stand in accounts of the ledger, in
// connection strings and in addresses, so that nothing is in them by which these are taken apart.
// One that SASLprep would change has two spellings that look alike, and drivers send one or the
// other.
func Check(name string) string {
	ok := name != "" && len(name) <= longest && utf8.ValidString(name) && Canonical(name) == name
	for i, c := range name {
		ok = ok && (strings.ContainsRune("_.@-", c) || unicode.IsLetter(c) || unicode.Is(unicode.Nd, c) || i > 0 && unicode.IsMark(c))
	}
	if !ok {
		return "is not a name; " + Rule
	}
	return ""
}

// Canonical is the one form of a name, whatever form it came in: a letter with its accent may be
// one character or two. What can be nobody's name is left as it is, and is then nobody's.
func Canonical(name string) string {
	if prepared, err := stringprep.SASLprep.Prepare(name); err == nil && utf8.ValidString(name) {
		return prepared
	}
	return name
}
