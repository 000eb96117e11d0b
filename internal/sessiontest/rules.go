package sessiontest

import "fmt"

// comparisonName is the name of the mechanism that compares.
const comparisonName = "above"

// paidRounds is what was paid for.
type paidRounds struct {
	rounds, answers int  // not begun or given
	open            bool // a round that may compare
}

// Rules says which rule of package session a run has broken, or nil. What a charge bought, and was
// not used, may be used later, and what was drawn and not written before a restart was seen by
// nobody and may be drawn again.
func Rules(run []Event) error {
	var now, written paidRounds // written is as of the last entry
	noted := false              // there is an entry since the last charge of a round
	compared := false           // this question was
	loose := false              // something was drawn that is not written
	lost := false               // and never will be: an error was said
	charged := false            // anything was
	for i, e := range run {
		wrong := func(text string) error { return fmt.Errorf("event %d (%s): %s", i+1, e.Kind, text) }
		if lost && (e.Kind == Charged || e.Kind == Called) {
			return wrong("it goes on after an entry that could not be written, and has not read what was")
		}
		switch e.Kind {
		case Charged:
			switch {
			case e.Again:
			case e.Round:
				now.rounds, written.rounds = now.rounds+1, written.rounds+1
			default:
				now.answers, written.answers = now.answers+1, written.answers+1
			}
			charged = charged || !e.Again
			noted = noted && !e.Round
		case Written:
			noted, loose, written = true, false, now
		case Called:
			loose = true
			switch {
			case e.Call.Mechanism == comparisonName && compared:
				return wrong("two comparisons for one question")
			case e.Call.Mechanism == comparisonName && now.open:
				compared = true
			case e.Call.Mechanism == comparisonName && now.rounds == 0:
				return wrong("a comparison that nobody paid for")
			case e.Call.Mechanism == comparisonName && !noted:
				return wrong("a comparison with a threshold that is not written down")
			case e.Call.Mechanism == comparisonName:
				now.rounds--
				now.open, compared = true, true
			case compared:
				// The answer of the round, which ends with it.
				now.open, compared = false, false
			case now.answers == 0:
				return wrong("an answer that nobody paid for")
			default:
				now.answers--
			}
		case Said:
			if loose {
				return wrong("it is said before it is written down")
			}
			compared = false
		case Looked:
			if !charged {
				return wrong("private data is read before anything is paid for")
			}
		case Failed:
			lost, compared = loose, false
		case Read:
			if loose {
				now = written
			}
			compared, loose, lost = false, false, false
		}
	}
	return nil
}
