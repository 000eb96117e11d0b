// Package sqlite keeps a ledger in one SQLite file, for one process at a time.
// It needs no server and no C compiler.
//
// # The journal
//
// The file is written with a rollback journal (journal_mode=PERSIST) and
// synchronous=EXTRA, and not with a write-ahead log, although that would save
// three of the four fsyncs of a commit. A log that lost its end, because a byte of it
// rotted, or because somebody copied or restored only the file with the familiar
// name, is a good log to SQLite: the last charges would be forgotten and nobody would be told.
// With a rollback journal every charge that was confirmed is in the ledger file
// itself, under its hash chain, and the journal beside it only ever holds what
// takes back a write that was not confirmed. PERSIST overwrites the journal
// instead of deleting it, so that the end of a commit is an fsync of a file
// and not of a folder, and so that a journal without its ledger is noticed.
//
// A journal left behind by a crash is played back by the next Open. Never remove
// "-journal" by hand.
//
// # Files
//
//	ledger.db          the ledger, mode 0600
//	ledger.db-journal  the rollback journal, empty of meaning unless a process died
//	ledger.db.lock     what the one writer locks; its content means nothing
//	ledger.db-new      a ledger that was being created when a process died
//
// The table records holds the chain: body is the record, hash is its SHA-256,
// and answer has the bytes of a kept answer. The table head repeats the last sequence and
// hash, so that a lost last record is noticed. Everything can be read with the
// sqlite3 shell while the ledger is closed:
//
//	sqlite3 ledger.db 'SELECT sequence, body FROM records'
//
// An open ledger keeps an index of its requests and answers in memory, less than
// 100 bytes a record, computed from the chain when it is opened.
//
// Keep a ledger on a local disk: locks and fsync of network file systems cannot be
// relied on.
package sqlite
