package admission

import "strings"

// Request is the ledger's name for what an analyst calls a request. It begins with who asks, so
// that nobody can take another's names away, or see whether they are taken. No analyst's name has a
// colon. What has no name gets none.
func Request(analyst, name string) string {
	if name == "" {
		return ""
	}
	return analyst + ":" + name
}

// RequestName is what the analyst calls it.
func RequestName(analyst, request string) string { return strings.TrimPrefix(request, analyst+":") }
