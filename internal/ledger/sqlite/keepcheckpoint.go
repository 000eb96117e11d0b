package sqlite

import (
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
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
	last, _ := l.State.Head()
	k := &l.checkpoints
	if k.making || k.ending || !k.whole || l.Stopped() != nil || last > chain.MaxCheckpoint ||
		last-min(k.last, last) < checkpoint.Due(last, checkpointLeast) {
		return
	}
	k.making = true
	clone := l.State.Clone()
	slot := 1 - max(k.slot, 0)
	l.helpers.Go(func() { l.makeCheckpoint(clone, slot) })
}

// tend begins what a ledger does in the background when it is opened.
func (l *Ledger) tend() {
	l.Take()
	defer l.Leave()
	if last := l.State.Unread(); last > 0 {
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
	sum, failed := writeCheckpoint(checkpoints(l.Path)[slot], clone)
	if failed == nil {
		failed = l.Note(background, ledger.CheckpointNotes(clone.Notes.Era()), []byte(checkpoint.Entry(last, sum)))
	}
	l.Take()
	defer l.Leave()
	k := &l.checkpoints
	k.making, k.last = false, last // where it failed, the next one is as far away
	if failed == nil {
		k.chosen = chosen{slot, sum}
		l.Keeper.Vouch(sum)
	}
	if l.Stopped() == nil {
		l.State.Settle(clone)
	}
}

// end ends what runs in the background. What is made is finished first.
func (l *Ledger) end() {
	l.Take()
	if !l.checkpoints.ending {
		l.checkpoints.ending = true
		close(l.stop)
	}
	l.Leave()
	l.helpers.Wait()
}
