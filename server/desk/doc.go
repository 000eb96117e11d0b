// Package desk takes the questions of every door. Whoever comes in by the wire or by HTTP asks here, so that there is one queue,
// one limit of questions a minute, one timeout, one clock that answers leave by, and one place to wait for what is paid when
// the server ends.
package desk
