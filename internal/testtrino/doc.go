// Package testtrino gives a test a Trino cluster: a coordinator and workers on this machine, as
// deploy/trino/cluster starts them.
//
// Shared is for tests that have a schema of their own and end no node. It is the cluster that
// DISCREET_TRINO names by the address of its coordinator; or else, where the server was fetched
// before, one for all tests of a user that run at the time: the first of them starts it, and it
// ends a minute after the last. Own is for tests that kill nodes, or need other settings.
//
// A test is skipped where neither is to be had, unless the environment has DISCREET_NEED_TRINO:
// then it fails.
package testtrino
