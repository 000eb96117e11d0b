package chain

import "github.com/discreet-dp/discreet/ledger"

// Lapsed reports whether the window of a charge has ended. What was not written down for it by then
// never will be: the account of that window paid, and those who are asked to pay in the next one
// have not.
//
// Check does not ask this of an answer that it reads. Ledgers from before this rule hold answers to
// charges of an earlier window, and are good ledgers in every other way; package replay is who
// tells of them.
func (s *State) Lapsed(charge *ledger.Record) bool { return charge.Window != s.Window(charge.Dataset) }

// MayLapse reports whether any window has ended since a record. Where none has, its charge need not
// be read.
func (s *State) MayLapse(sequence uint64) bool { return sequence < s.renewed }
