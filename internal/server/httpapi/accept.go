package httpapi

import (
	"strconv"
	"strings"
)

// The media types of answers.
const (
	mediaJSON    = "application/json"
	mediaNDJSON  = "application/x-ndjson"
	mediaCSV     = "text/csv"
	mediaProblem = "application/problem+json"
)

// agree returns the media type that a client likes best, of those that an answer can have; JSON
// where it likes none. The framework's own reader of this header can be made to panic, so it is
// never shown what a client wrote.
func agree(headers []string) string {
	best, most := mediaJSON, 0.0
	for _, part := range strings.Split(strings.Join(headers, ","), ",") {
		name, rest, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		switch name {
		case "*/*", "application/*":
			name = mediaJSON
		case "text/*":
			name = mediaCSV
		case "application/ndjson", "application/jsonl":
			name = mediaNDJSON
		case mediaJSON, mediaNDJSON, mediaCSV:
		default:
			continue
		}
		q := 1.0
		for _, parameter := range strings.Split(rest, ";") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
				if f, err := strconv.ParseFloat(value, 64); err == nil && f >= 0 && f <= 1 {
					q = f
				}
			}
		}
		if q > most {
			best, most = name, q
		}
	}
	return best
}
