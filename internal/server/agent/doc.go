// Package agent is the interface for language models: the tools describe, quote, ask, budget and
// sandbox, over the Model Context Protocol, with its official SDK. An agent is an analyst like any
// other, adaptive and untrusted, and that is all that it is: it asks in the name of one user, with
// that user's quota, and nothing here does an owner's work.
//
// # Ways in
//
// [Handler.Serve] is /mcp of a server: streamable HTTP without sessions, behind the login of
// package httpapi, which has looked at token, origin, size and type before. Every request says who
// sends it, so there is no session that could be taken over, and who is revoked is out with the
// next call, and before the turn of one that waits. [Handler.For] is a server for whatever
// transport there is, such as the standard input and output of a process. [Relay] hands the calls
// of such a process on to /mcp of a server.
//
// # What a tool tells
//
// All questions go to the dispatcher, and wait there for their turn and their tick as those of the
// other interfaces do. What describe and sandbox say is made of the policy alone; they are bounded
// as looks at the catalogue are. Every answer has its price and what is left, as text for the model
// and as JSON, which is that of /v1. At most [MostRows] rows are told.
//
// What goes wrong is a tool's error with a kind, a reason, what to do instead and where in the SQL,
// as httpapi's problems have them: texts from the question, the policy and the ledger, never from
// the data or an engine. A panic is caught here, because the SDK calls tools outside of net/http's
// net.
//
// # Asking again
//
// A model that hears nothing calls again. So a question that has no name gets one from its own text
// and the hour of its first call: the same call within an hour is the same request, and is charged
// once, also where the first one was charged and its answer was lost. Another server, and one that
// was restarted, knows the hour of the clock.
package agent
