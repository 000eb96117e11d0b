// Package ownercmd has the commands of whoever owns the data:
//
//	discreet init       init.go       a draft of a policy
//	discreet check      check.go      what is wrong with a policy, and the data against it
//	discreet prepare    prepare.go    tables stored by person
//	discreet incidents  incidents.go  questions that failed after their charge, and their release
//	discreet ledger     ledger*.go    what was charged, whether it can be believed, what the owner
//	                                  adds: verify, replay and copy are in ledger.go, key and sign
//	                                  in ledgersign.go, the others in files of their names
//	discreet user       user*.go      who may come in to the server
//	discreet serve      serve*.go     its flags, its file of settings, and its demonstration
//	discreet mcp        mcp.go        the tools of package agent over standard input and output
//	discreet version    version.go    which release this is, and which formats it writes and reads
package ownercmd
