// Package querycmd has the commands of analysts:
//
//	discreet query, explain  query.go     one question; without one, the dialogue of dialogue.go, which
//	                                      package prompt reads
//	discreet ask             ask.go       one question to several servers
//	discreet budget          budget.go    what was spent and what is left
//	discreet attach          attach.go    this program as a part of another one, which started it
package querycmd
