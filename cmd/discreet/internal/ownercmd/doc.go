// Package ownercmd has the commands of whoever owns the data: discreet init, check, prepare and
// incidents for a policy, user for who may come in, ledger for what was spent, and serve and mcp,
// which let others ask. Each is in the file of its name. Those of discreet user and discreet ledger
// begin with that: ledger.go has verify, replay and copy, and ledgersign.go the key of the owner.
package ownercmd
