package pgwire

import (
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
)

// notice tells the client something beside the result.
func (s *session) notice(severity, code, message, detail string) {
	if !s.settings.quiet(severity) {
		s.conn.send(&pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: printable(message),
			Detail: printable(detail)})
	}
}

// remarks are what is to be known about an answer: what it cost, what is left, how exact it is, and
// what else.
func (s *session) remarks(a *api.Answer) {
	say := func(message string) { s.notice("NOTICE", "00000", message, "") }
	receipt := ""
	if a.Receipt.Hash != "" { // what a stream predicted was never charged for, and has none
		receipt = fmt.Sprintf("receipt: record %d, %s", a.Receipt.Sequence, a.Receipt.Hash)
	}
	s.notice("NOTICE", "00000", render.Price(a), receipt)
	if text := bars(a); text != "" {
		say(text)
	}
	if a.Cut {
		say(fmt.Sprintf("one person counts with at most %s in each of at most %s; what that leaves out is not in the error",
			render.Count(a.MaxRows, "row"), render.Count(a.MaxGroups, "group")))
	}
	for _, n := range a.Notes {
		say(table.Clean(n))
	}
	switch v := a.Version; {
	case v.Name != "":
		say(fmt.Sprintf("data version %d: %s", v.Number, table.Clean(v.Name)))
	case v.Number > 1:
		say(fmt.Sprintf("data version %d", v.Number))
	}
	for _, alert := range a.Alerts {
		s.notice("WARNING", warningState, alert.String(), "")
	}
}

// bars says for each noisy column how far off its values are: the narrowest and the widest of its
// error bars.
func bars(a *api.Answer) string {
	var parts []string
	for j, c := range a.Columns {
		if !c.Noisy {
			continue
		}
		narrowest, widest := math.Inf(1), -1.0
		for i := range a.Errors {
			if j < len(a.Errors[i]) && a.Errors[i][j] != nil {
				narrowest, widest = min(narrowest, *a.Errors[i][j]), max(widest, *a.Errors[i][j])
			}
		}
		if widest >= 0 {
			parts = append(parts, table.Clean(c.Name)+" "+render.Around(narrowest, widest))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("error (%s): %s", strings.TrimPrefix(render.PlusMinus(a.Confidence), "±"), strings.Join(parts, ", "))
}
