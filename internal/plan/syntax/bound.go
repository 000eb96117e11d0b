package syntax

import (
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// Bound puts the values of a question's parameters, and the time, into what was read of its text.
func Bound(q api.Question) (api.Question, error) {
	text := Open(q.SQL, q.Parsed)
	if len(q.Parameters) > 0 || strings.Contains(q.SQL, "$") {
		bound, err := text.Bind(q.Parameters)
		if err != nil {
			return q, err
		}
		text = bound
	}
	if q.Now.IsZero() {
		q.Now = time.Now()
	}
	q.Parsed, q.Parameters = text.At(q.Now), nil
	return q, nil
}
