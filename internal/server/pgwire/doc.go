// Package pgwire serves PostgreSQL's clients: version 3.0 of the wire protocol, with psql, JDBC and
// everything that is built on libpq at the other end. This comment says what a client can
// rely on.
//
// # Coming in
//
// The database is a dataset of the policy, and the user an analyst whom the policy lists there; an
// owner may look at the catalogue of every dataset and asks nothing, unless listed. Logins are
// SCRAM-SHA-256, and SCRAM-SHA-256-PLUS where there is one certificate. With TLS, plaintext is
// refused; bytes that were sent before the handshake are not believed. Every failed login gets the
// same words. What a user may do is looked up again before every statement, so that who is revoked
// is out at once.
//
// # Statements
//
// Both protocols work: simple, with several statements in a message, and extended, with named
// statements, portals, row limits, and parameters and results in text and in binary.
//
//	SELECT on tables of the policy   is asked with the dispatcher, and paid for
//	SELECT on anything else          is for package catalog, free and exact
//	EXPLAIN SELECT                   prints the privacy plan; also (FORMAT JSON), and of EXECUTE and DECLARE
//	COPY (SELECT ...) TO STDOUT      in text, CSV and binary, with the options of PostgreSQL
//	DECLARE CURSOR, FETCH, MOVE, CLOSE   with SCROLL and WITH HOLD
//	PREPARE, EXECUTE, DEALLOCATE     the same names as prepared statements of the protocol
//	SET, SET LOCAL, SHOW, RESET      of dp.* and of what PostgreSQL's clients set
//	SHOW dp.budget                   the analyst's own account; all of them for an owner
//	BEGIN ... COMMIT, SAVEPOINT      undo settings, because nothing else is written; a charge is never undone
//	DISCARD                          as in PostgreSQL
//	CLOSE ALL, LISTEN, UNLISTEN      do no more than pools and tools need
//	CREATE TEMPORARY VIEW            describes a SELECT in the session's own catalogue, free; it is not asked by its name
//
// COPY, EXECUTE and cursors are other ways to fetch the answer of a SELECT, and are asked where it
// is: the price, the memory of answers and the tick are the same. A cursor is checked when it is
// declared, and asked and paid for by the first FETCH or MOVE that needs a row, with the settings
// and the dp.request of its DECLARE: a cursor that nobody fetches from costs nothing, and clients
// that look at its columns first pay nothing for it. From then on it holds its rows, which count
// against what a session keeps, until it is closed: by CLOSE, by the end of its transaction unless
// it is WITH HOLD, by DISCARD ALL, and with the session.
//
// Everything else is refused, with a hint. Settings can also be given at the start, as in
// PGOPTIONS='-c dp.epsilon=0.5'. Of dp.epsilon and dp.error the later one counts. dp.request names
// the next question and only that: asked again under the same name, it is not charged twice.
// statement_timeout shortens the server's own and does not lengthen it. What was charged stays
// charged, however a statement ends.
//
// An integer is int8, a decimal numeric, a real float8; what was described is what is sent. After
// an answer come notices: the price and what is left, the widest error bar of each noisy column,
// and what else is to be known. Alerts about budgets are warnings. client_min_messages silences
// them.
//
// # Errors
//
//	42P01, 42703, 42883  a table, a column or a function that does not exist
//	42501         rows of people, and what the policy does not allow
//	0A000         SQL that is not done here; the hint says what to write instead
//	42601         the grammar
//	53400         the budget does not cover it
//	40001         too many questions, now or in this minute: nothing was spent, and asking again in a while helps
//	55000         the budget was renewed meanwhile; a query of the catalogue that takes too long
//	55D00         questions failed after their charge, and there are no new answers until the owner has released it
//	57014         canceled, or the limit of time was reached; the text says which
//	57P01         the server ends, the session was idle, or the user is revoked
//	57P03         the data is being opened; nothing was charged, and drivers that try again do so
//	28P01, 28000  a wrong name or password; locked out, or without TLS
//	3D000         no such dataset for this user
//	53300, 53200  too many connections; too much kept in a session, or held for its user
//	08P01         no message of the protocol; it ends the session, where it is not clear how to go on
//	XX000         anything else. It says nothing more, because its words could hold data.
//
// No text, no position and no SQLSTATE depends on the data.
//
// # What it puts up with
//
// A connection is read one packet at a time, by its announced length, which is checked before
// anything is allocated: 8 KiB before login, and Options.MessageSize after it. Before login a
// connection takes less than 64 KiB. There are deadlines for the login, for being idle, for the
// rest of a message, and for taking what is sent; caps on connections in all, of an address and of
// a user; on length, words and depth of a text before it is parsed; and on what a session keeps.
// Statements, portals, rows that are sent and large messages count against the session, its user
// and the server (package clientlimits) before they are there. Of replies at most 32 KiB wait, and
// one message. While a statement waits or runs the connection is watched: who hangs up has stopped
// it. A fault ends one session.
//
// # In the code
//
// Bytes become packets in packetConn, which a connection reads: startup, TLS and login, then one
// message after the other, which it gives to the protocol. A text goes through the asker, which
// reads it when it is the user's turn, the router, which decides what kind of statement it is or
// refuses it, the describer, which says what it takes and returns, and the runner, which runs it.
// Whatever is asked of the data or of the catalogue is asked by the asker, inside of an execution,
// which is what a client can cancel. Results and notices go back through the clientWriter. The
// objectStore has prepared statements and portals, and heldMemory what they take.
package pgwire
