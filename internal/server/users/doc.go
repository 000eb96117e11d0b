// Package users knows who may come in: names, roles, passwords, tokens, and the trail of who tried.
// It is one SQLite file, or a schema of a PostgreSQL database that several servers share. The
// command line can change either while servers run, and what it changes counts at once, at each of
// them.
//
// # What is stored
//
// Of a password, two things: an argon2id hash, and what SCRAM-SHA-256 needs (a salt, a number of
// rounds, and two keys), because the wire protocol never shows the server a password that argon2id
// could hash. Whoever steals the file can guess against the weaker of the two, and that is SCRAM's,
// although it has 65,536 rounds (drivers refuse more than 100,000). So passwords are drawn by us,
// with 160 bits, unless the owner insists on another, which must then have at least 12 characters.
// Of a token, a SHA-256 hash: it has 256 bits and is drawn by us, so nobody guesses it. So has the
// secret of a visit, which is what a browser is in that signed in, and of it too there is the hash.
//
// A thief of the file cannot come in with what is in it, but can pretend to be this server to its
// users (RFC 5802, section 9). The file has mode 0600, and one that others can read or write is
// refused, not repaired: somebody may have read it already, and only the owner can say whether
// everybody needs a new password. So are tables with rights of PUBLIC; whom else the owner gives
// rights to is the owner's choice. What is said of the file below holds for the database too.
//
// # Who is told what
//
// Every failed attempt gets the same words, [ErrDenied], takes the same steps, and a SCRAM exchange
// for a name that does not exist goes on with a salt of its own that stays the same: nobody learns
// who has an account. Salts are made of the name and of a secret of the file, for users too, so
// that not even a new account or a new password shows. The price is that a table that is made for
// one user's salt stays good for their next password; no such table is of use against drawn
// passwords.
//
// # Who has to wait
//
// Guesses are slowed and users are not shut out. Failures are counted in four ways, in memory of
// bounded size; an IPv6 network of 64 bits is one address, and so is this machine, by whatever
// loopback address it comes. They are the same counts at every listener: who has to wait at one has
// to wait at the other.
//
//   - By name and address: from the fifth failure on, a second's wait, doubled by each further one
//     up to 15 minutes. One is forgotten in an hour, and all of them when the user comes in.
//   - By address: from the 30th failure on, for whatever names, the same waits; one is forgotten in
//     5 minutes. It does not hold for a name that came in from this address within 30 days, so that
//     one person's mistakes behind a shared address do not lock out the others.
//   - By name: 20 failures from wherever, of which one is forgotten in a minute, mean that the name
//     is attacked. Then an address from which it did not come in before has to wait a minute after
//     its first failure, and longer after each further one. This count makes nobody wait by itself.
//   - By name, slower: 1,000 failures from all addresses together from which it did not come in
//     before, of which one is forgotten in 6 seconds. Then such addresses wait 6 seconds after each
//     failure of any of them. So a name is guessed at 1,000 times and 600 times an hour after, however
//     many addresses there are. All names share a table of fixed size, by a hash that nobody knows: a
//     flood of others makes no name forgotten, and names of nobody behave as those of users do. Who
//     has that many addresses can keep a user out by it at a new address, and never where that user
//     came in within 30 days, nor with a token or a cookie.
//
// To wait is not to be decided: while somebody has to wait, the right password does not come in
// either, and no hash is computed. A guess is decided and counted in one step, so many at once are
// no more than many in a row. An exchange that is abandoned after its salt was told counts as a
// failure when it is closed; that it was no guess is certain, because only the proof is one. What
// can be noticed: from an address that has to wait, a name that need not has come in from there.
//
// Of several servers on one database each counts for itself, and is as strong as one alone: who
// guesses at n of them has n times as many guesses, against passwords for which that does not
// matter. Who came in at any of them before a server began is no stranger to it.
//
// A listener that does not know its peers' addresses, behind a proxy, makes them one, and then one
// of them can lock out a name for all: give it the addresses (package clientlimits). Failures are
// forgotten when a server starts again. Tokens are outside of all this: they cannot be guessed, and
// a program with an expired one must not lock out its neighbours. How many attempts an address may
// make in a second is for the listeners to limit.
//
// # The trail
//
// Everybody who comes in, and every attempt that fails, is written down with time, name, address,
// listener and outcome. Attempts of one hour that are alike share a line with a count; the first of
// them is in the file before the attempt is answered, and nobody comes in without. The count
// follows within a second. An address has at most 20 lines of failures an hour, and then one for
// all names; who has a line of those who came in waits for none of them. The newest 100,000 lines
// of those who came in are kept, and as many of the others. A name is written as it was sent, cut
// and without what cannot be printed: people type passwords in its place, so the trail is for the
// owner. Servers on one database share the trail; each has lines of its own.
//
// # Visits
//
// A visit ends after some time without requests, after some more whatever there was, when its user
// signs out, is revoked or has another password: the last two by the epoch that it began in, so
// that nobody has to find it. All of it is asked of the file at every request, so it ends at all
// servers at once. When it was last used is noted once a minute. A user has at most 100, and of
// those that ended the row stays for a while, so that the trail says whose cookie is tried.
//
// # In a database
//
// The tables are secret, users, tokens, logins, visits and saved, in the schema that the address
// names; where the schema has others of these names it is left as it is. A transaction locks the
// row of secret, so that of all changes one goes on at a time, as in a file: a token that is made
// while its user is revoked is revoked too, or not made. Who reads does not wait. A connection is
// made to a server that takes writes and confirms only what is on its disk, never to a standby,
// which would still let in who was revoked. While the database does not answer nobody comes in, and
// who is in is not let on; the owner is told the reason, once a minute, and nobody else is.
//
// # Limits
//
// At most four argon2id hashes run at once, of 32 MiB each, and those of one name and address one
// after the other; for addresses that nobody came in from within 30 days, one, in turn by network
// (48 bits of IPv6, 24 of IPv4). A file must be on a disk of this machine, as SQLite's write-ahead
// log needs it.
// A server has at most 8 connections to a database, and gives a statement 10 seconds.
package users
