package pgcatalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
)

// maxLocks is how many advisory locks a session holds.
const maxLocks = 1000

// lock is an advisory lock: a number, or two.
type lock struct {
	a, b   int64
	two    bool
	shared bool
}

// locks are the advisory locks of a session, and how often it holds each. They mean nothing to
// anybody else: a lock is always free, because nothing is written that it could protect, and what
// one session does is no other's to see.
type locks map[lock]int

// lockFunctions take advisory locks and give them back.
var lockFunctions = func() (out []function) {
	const two, one = "(int4,int4) ", "(int8) "
	for _, args := range []string{one, two} {
		out = append(out, function{"pg_advisory_lock|pg_advisory_lock_shared|pg_advisory_xact_lock|pg_advisory_xact_lock_shared" + args +
			"void",
			func(db *database, call *interpret.Call) (datum.Value, error) {
				_, err := takeLock(db, call)
				return datum.Text(""), err
			}},
			function{"pg_try_advisory_lock|pg_try_advisory_lock_shared|pg_try_advisory_xact_lock|pg_try_advisory_xact_lock_shared" + args +
				"bool", takeLock},
			function{"pg_advisory_unlock|pg_advisory_unlock_shared" + args + "bool", giveLock})
	}
	return append(out, function{"pg_advisory_unlock_all() void", func(db *database, _ *interpret.Call) (datum.Value, error) {
		clear(db.locks)
		return datum.Text(""), nil
	}})
}()

func lockOf(call *interpret.Call) lock {
	l := lock{a: call.Int(0), shared: strings.HasSuffix(call.Name, "_shared")}
	if len(call.Args) == 2 {
		l.b, l.two = call.Int(1), true
	}
	return l
}

// takeLock takes a lock until the end of the session. One until the end of a transaction cannot be
// given back, so it need not be kept.
func takeLock(db *database, call *interpret.Call) (datum.Value, error) {
	if strings.Contains(call.Name, "_xact_") {
		return datum.True, nil
	}
	l := lockOf(call)
	if db.locks[l] == 0 && len(db.locks) >= maxLocks {
		return nil, interpret.Fail("53200", "a session can hold at most %d advisory locks", maxLocks)
	}
	db.locks[l]++
	return datum.True, nil
}

func giveLock(db *database, call *interpret.Call) (datum.Value, error) {
	l := lockOf(call)
	if db.locks[l] == 0 {
		return datum.False, nil
	}
	if db.locks[l]--; db.locks[l] == 0 {
		delete(db.locks, l)
	}
	return datum.True, nil
}
