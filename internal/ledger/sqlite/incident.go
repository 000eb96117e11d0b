package sqlite

// Died implements [ledger.Ledger]. A dataset with a charge whose question was canceled stays one of
// them: what a process was doing when it died is written nowhere else, and to write it would cost
// every question a commit. A charge that paid for a session never has an answer; what counts there
// is that questions of sessions have reached the engine since the last crash that was counted,
// which a process notes once.
func (l *Ledger) Died() []string {
	if !l.died || l.Look(background) != nil {
		return nil
	}
	defer l.Leave()
	return l.State.Unanswered()
}
