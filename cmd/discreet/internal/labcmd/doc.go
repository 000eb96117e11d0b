// Package labcmd has the commands that need no data of an owner: discreet account, audit, survey
// and demo, each in the file of its name.
package labcmd
