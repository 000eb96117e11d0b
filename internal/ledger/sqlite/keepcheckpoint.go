package sqlite

import (
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// checkpointing is what a running ledger does about its checkpoints. All of it belongs to whoever
// has the turn.
type checkpointing struct {
	last uint64 // the record of the last one
	chosen
	whole  bool // all records were read and checked by this process
	making bool
	ending bool // no more work is begun in the background
}

// checkpoint begins to make a checkpoint where one is due. It is made of a copy, in the background.
// None is made of another that was not checked yet: what is wrong with one would be in all that
// follow. The caller has the turn.
func (l *Ledger) checkpoint() {
	last, _ := l.state.Head()
	k := &l.checkpoints
	if k.making || k.ending || !k.whole || l.stopped() != nil || last > chain.MaxCheckpoint || last-min(k.last, last) < due(last) {
		return
	}
	k.making = true
	clone := l.state.Clone()
	slot := 1 - max(k.slot, 0)
	l.helpers.Go(func() { l.makeCheckpoint(clone, slot) })
}

// tend begins what a ledger does in the background when it is opened.
func (l *Ledger) tend() {
	l.turn <- struct{}{}
	defer l.leave()
	if last := l.state.Unread(); last > 0 {
		sum := l.checkpoints.sum
		l.helpers.Go(func() { l.scrub(last, sum) })
	}
	l.checkpoint()
}

// makeCheckpoint writes a checkpoint, and then its note into the chain. A checkpoint that cannot be
// written is left out: the ledger needs none, and only opens more slowly.
func (l *Ledger) makeCheckpoint(clone *chain.State, slot int) {
	clone.Sort()
	last, _ := clone.Head()
	sum, failed := writeCheckpoint(checkpoints(l.path)[slot], clone)
	if failed == nil {
		failed = l.Note(background, ledger.CheckpointNotes(clone.Era()), []byte(entry(last, sum)))
	}
	l.turn <- struct{}{}
	defer l.leave()
	k := &l.checkpoints
	k.making, k.last = false, last // where it failed, the next one is as far away
	if failed == nil {
		k.chosen = chosen{slot, sum}
		l.keeper.Vouch(sum)
	}
	if l.stopped() == nil {
		l.state.Settle(clone)
	}
}

// end ends what runs in the background. What is made is finished first.
func (l *Ledger) end() {
	l.turn <- struct{}{}
	if !l.checkpoints.ending {
		l.checkpoints.ending = true
		close(l.stop)
	}
	l.leave()
	l.helpers.Wait()
}
