// Package tools holds what people's tools send, and holds the server against it.
//
// testdata/senders has a program for each tool: it connects, looks around, counts, groups, draws
// and exports as somebody new would. TestRecord ran each against a real PostgreSQL with the same
// tables, through a proxy that writes down what passes: testdata/corpus. TestCorpus sends all of
// that to a server of ours, and TestTools runs the tools themselves against one, where they are
// installed. Everything is answered, or refused for a reason of privacy that the refusal states;
// which it is stands in the files.
package tools
