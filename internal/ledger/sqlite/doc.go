// Package sqlite keeps a ledger in one SQLite file, for one process at a time.
// It needs no server and no C compiler.
//
// # Commits
//
// Calls that write and come at the same time are decided in the order in which they came and
// written in one transaction, up to 1024 of them or 16 MiB of answers. Nobody is answered before it
// is on stable storage: not with a receipt, and not with a refusal either, which may rest on a
// record of the same transaction. When it fails, all of them get the error. A single caller waits
// for one commit, which is one fsync.
//
// # The log
//
// The file is written with SQLite's write-ahead log (journal_mode=WAL, synchronous=FULL,
// locking_mode=EXCLUSIVE). SQLite by itself forgets charges with it and says nothing, when a byte
// of the log rots or when somebody copies only the file with the familiar name. So this package
// checks what SQLite does not:
//
//   - The file says whether it needs its log: the user_version in its header is 65539 from before
//     the first charge until the ledger is closed, and 3 otherwise. A file that needs its log is
//     not opened without one.
//   - The log is read before SQLite sees it. It is emptied whenever it is put into the file (when
//     it is longer than 16 MiB, when a ledger is opened after a crash, and when it is closed), so
//     everything after its last good commit belongs to one transaction that was not finished. Where
//     it holds a commit before its end, or a page twice, or a frame that one other byte would make
//     good, it is damaged, and the ledger is not opened.
//   - What a process left in its log is written once more, and synced, before anybody is told of it
//     and before it goes into the file: after a kill, or after an fsync that failed, what can be
//     read need not be on the disk.
//   - SQLite puts the log into the file only when it is told to, and never when a connection is
//     closed.
//   - The whole ledger is checked through a view of both that cannot write, before SQLite opens it
//     for writing.
//
// One changed byte anywhere in the log is noticed, unless it is the only one in its sector that is
// not zero. Larger damage is noticed unless it lies in the last commit only, which then looks like
// one that was never finished; and a log that was cut off or emptied looks like that of a process
// that died earlier. Only an anchor can tell those (see [Options]).
//
// Never remove or forget to copy "-wal" of a ledger that is open or whose process died. A ledger
// that was closed is a single file.
//
// # Files
//
//	ledger.db       the ledger, mode 0600
//	ledger.db-wal   its log; there while the ledger is open, and after a crash
//	ledger.db.lock  what the one writer locks; not empty once there was a ledger, so that one that is missing is not begun anew;
//	                names the version that last opened it
//	ledger.db.checkpoint0, ledger.db.checkpoint1
//	                what follows from the first records, where the chain has its hash; may be removed
//	ledger.db-new   a ledger that was being created when a process died; also with -journal or -wal
//
// The table records holds the chain: body is the record, hash is its SHA-256, and answer has the
// bytes of a kept answer, or those of a note behind its salt. The table head repeats the last
// sequence and hash, so that a lost last record is noticed. Everything can be read with the sqlite3
// shell while the ledger is closed:
//
//	sqlite3 ledger.db 'SELECT sequence, body FROM records'
//
// An open ledger keeps an index of its requests, answers and notes in memory, less than
// 100 bytes a record, computed from the chain when it is opened.
//
// # Failures
//
// A full disk: nothing of the transaction was spent, and the ledger goes on after a rollback, with
// its state read anew from the file. Any other failure of a write, above all of fsync, stops the
// ledger until it is opened again; it is never tried again. The same holds when the log is put into
// the file, except that a full disk leaves the log as it is. A stopped ledger keeps its log when it
// is closed. An anchor that cannot be written does not stop the ledger: the charges stay, their
// callers get an error, and nothing is confirmed until the anchor was written.
//
// Keep a ledger on a local disk: locks and fsync of network file systems cannot be relied on.
package sqlite
