// Package chain is what every ledger has in common, wherever it is stored: what follows from a
// chain of records, which record may come next, and what the next one is for a charge, an answer or
// an entry. A [AnchorKeeper] ties a chain to its anchor elsewhere, and [FindLoss] says what to
// count where the chain came loose. Nothing here does input or output of its own.
//
// The layout of records is part of the package comment of ledger.
//
// # Checkpoints
//
// A checkpoint is what follows from the records of a ledger, written down, so that a ledger need
// not be read from its first record on whenever it is opened: its bytes and their hash, when one is
// due, what proves it, and what checks it afterwards. Where the bytes are kept is for each ledger
// to say.
//
// What is believed, and why. The records after a checkpoint are checked like all of a ledger
// without one, and each holds the hash of the one before. One of them is a note with the hash of
// the checkpoint, made by a process that had itself read and checked everything before. So the last
// hash of the chain covers the checkpoint as it covers every record: one that was changed, that is
// another ledger's, or that was not finished, is not the noted one.
//
// But whoever can write where the ledger is can add a record behind the last. No record takes a
// charge away, and a checkpoint could say anything, so a note alone is not enough. Where there is
// an anchor, it names the one checkpoint that is believed. Where there is none, an older copy of
// the whole ledger would do as well, and the scrub and a full check tell.
//
// A checkpoint that is not believed is as good as none, and the ledger is checked from its first
// record on. So is one whose checkpoint is far behind: since none is made before everything was
// read, processes that end too soon for that read everything now and then.
package chain
