package ledger

import "strings"

// between stands between the keys of an answer that has several.
const between = " | "

// JoinKeys makes one key of several. An answer that is kept under it is found under each of them,
// and under all together: what one charge paid for can be asked for in parts.
func JoinKeys(keys ...string) string { return strings.Join(keys, between) }

// Keys returns everything under which an answer is found that was kept under a key.
func Keys(key string) []string {
	parts := strings.Split(key, between)
	if len(parts) == 1 {
		return parts
	}
	return append(parts, key)
}
