// Package streamsession runs the streams of a policy (package stream): counts over some columns,
// many of them on one budget. Charge, run, release and keep are the session's, round by round, in
// this order. A charge is on stable storage before the engine counts the people in the cells, which
// it does once for each version of the data; the noise of a round's threshold is in the journal
// before anything is compared with it, and an answer before anybody sees it. A stream is shared by
// all analysts, and each pays for what they cause.
//
// Counts of SQL may go through a stream too ([Sessions.Routes], [Sessions.Divert]): where that
// costs at most what the question by itself would. Which way a question goes follows from the text,
// the settings and what was released, and from nothing else.
package streamsession
