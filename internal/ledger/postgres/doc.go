// Package postgres keeps a ledger in a PostgreSQL database, for several servers at a time.
//
// # One order
//
// The table head has one row. Each transaction that writes locks it (SELECT ... FOR UPDATE), reads
// the records that others have appended since, checks them as an auditor does and applies them to
// its state, decides by the same rules as every ledger (package chain), appends, moves the head and
// commits. So there is one order, whoever writes, and no budget is ever decided on a state that
// somebody else has changed. Calls that wait at one server are decided together and written in one
// transaction (package groupcommit): two messages to the database and one commit, for up to 1024 of
// them.
//
// Whoever reads looks at the head first, and takes in what is new: what was confirmed to anybody
// before the call is seen. Who asked before the last look began shares it.
//
// # Commits
//
// synchronous_commit is on, or stronger, also where the role or the database have it otherwise; a
// server with fsync = off and a standby are refused. Where the connection is lost while something
// is written, nobody is answered before its fate is known: over a new connection the head is
// locked, which waits for the end of the transaction that had it, and then the record is there
// with its hash or never will be. Where that cannot be found out in 20 seconds the callers are
// told so ([ledger.WriteError], Unknown), and nothing is done before it could: the state is made
// anew from the records. A database that has less than this server has read, because it was
// restored or because a standby took over that was behind, stops the server.
//
// # Servers
//
// Each server has a number and a lease of 15 seconds in the table servers, which it renews over a
// connection of its own. The first who finds that a lease is over locks the head and gives that
// server up: no transaction of it is under way then, and every later one finds that and fails for
// good, however long it slept in between. With the head locked nobody sleeps for long: PostgreSQL
// ends a transaction that is idle for 5 seconds. The lease goes by the database's clock, and
// decides nothing but that a server ends. Where the database was away, and so nobody could renew
// anything, all have another lease to come back.
//
// What a server that was given up may have been answering, by the charges that it made and that
// have no answer, is written into the table deaths in the same transaction, and is counted once:
// the incident and the mark that it was counted are one transaction too.
//
// Things that must be one at a time across servers are notes on condition ([ledger.Provided]).
//
// # Tables
//
//	head     sequence and hash of the last record
//	records  sequence, body, hash, the bytes of an answer or of a note behind its salt, and which
//	         server wrote it
//	servers  which servers there are and were
//	deaths   which datasets servers that were given up may have been answering about
//	checkpoints  what follows from the records up to one of them, so that a server need not read
//	             all of them (package chain); one server makes one at a time, and a ledger
//	             without the table has none
//
// They are in a schema of their own, "discreet" unless the address says schema=. A trigger keeps
// accidents from changing records; what a determined person changes is found by the hash chain.
package postgres
