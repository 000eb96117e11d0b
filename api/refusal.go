package api

import "fmt"

// Refusal is returned when a question cannot be asked. It is decided from the
// text and the policy alone, before anything is charged and before any data is
// touched, so it tells nothing about the data and costs nothing.
type Refusal struct {
	Reason   string // what is wrong
	Instead  string // what to write instead; may be empty
	Position int    // byte offset into the text, or -1
	// Code is PostgreSQL's SQLSTATE for what is wrong, where it has one: clients tell a table that
	// does not exist from one that cannot be used. It is empty where something is simply not done
	// here.
	Code string
}

// Refuse says no to a question as a whole, at no position of its text.
func Refuse(instead, format string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Instead: instead, Position: -1}
}

func (r *Refusal) Error() string {
	if r.Instead == "" {
		return r.Reason
	}
	return r.Reason + "; " + r.Instead
}

// WithCode gives a refusal its code.
func (r *Refusal) WithCode(code string) *Refusal {
	r.Code = code
	return r
}

// Disagreement is a refusal of a question that was checked twice, where the second check does not
// find what the first one claims: a mistake of ours, in one of the two. It costs nothing. What an
// analyst reads is the same for all of them, because what exactly is wrong would help to look for
// what only one of the two is wrong about.
type Disagreement struct {
	// Detail says where the two differ. It is for the owner and for who mends it, is made of the
	// question and the policy, and holds no data.
	Detail string
}

func (d *Disagreement) Error() string { return disagreement.Error() }

// Unwrap makes it a refusal.
func (d *Disagreement) Unwrap() error { return disagreement }

var disagreement = &Refusal{
	Reason:   "this question was checked twice, and the two checks do not agree; nothing was computed or charged",
	Instead:  "ask it in another way, and tell the owner, who finds it in the log",
	Position: -1,
}
