package plan

import "fmt"

// Refusal is returned when a question cannot be asked. It is decided from the
// text and the policy alone, before anything is charged and before any data is
// touched, so it tells nothing about the data and costs nothing.
type Refusal struct {
	Reason   string // what is wrong
	Instead  string // what to write instead; may be empty
	Position int    // byte offset into the text, or -1
}

func (r *Refusal) Error() string {
	if r.Instead == "" {
		return r.Reason
	}
	return r.Reason + "; " + r.Instead
}

// refuse makes a Refusal at a position of the text; pos is -1 where there is none.
func refuse(pos int32, instead, format string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: int(pos)}
}
