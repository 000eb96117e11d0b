// Package anchor keeps the anchor of a ledger in a second place, which the owner of the data names:
// a file on another volume, or a row in a PostgreSQL database. A ledger that is older than its
// anchor is not opened, so whoever restores a backup, by accident or not, does not get spent budget
// back.
//
// The place should be out of reach of whatever may replace the ledger: not in the same snapshot,
// not in the same backup, and best not under the same administrator. Who can set back both sets
// back both.
//
// # A file
//
// [File] keeps one JSON document, mode 0600:
//
//	{"format":"discreet-anchor-1","anchor":{...},"sha256":"..."}
//
// with the SHA-256 of the bytes of the anchor. It is written under another name in the same folder,
// synced, renamed and the folder synced, so there is always a whole one. A file that does not check
// is an error and never "no anchor". The folder is never created. Where the file is on a volume of
// its own that is not mounted, its folder is missing, or is an empty one: the ledger notes that it
// has an anchor, and is not opened where there is none ([ledger.AnchorNotes]).
//
// # PostgreSQL
//
// [Postgres] keeps the same document in a row of
//
//	discreet_anchor(name text PRIMARY KEY, document text, sha256 text, stored timestamptz)
//
// The name is the owner's and not the ledger's identity, because a ledger that is missing has none
// to ask for. The table is created when it is missing. A commit waits for the disk
// (synchronous_commit), also of standbys where the server is set so. A standby is not read: it may
// be behind.
//
// # Two copies at once
//
// A place remembers what it last loaded or stored, and stores only over that. So two processes that
// have copies of one ledger and share an anchor do not take turns overwriting each other: the
// second to store gets a [*MovedError].
package anchor
