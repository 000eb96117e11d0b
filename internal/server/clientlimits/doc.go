// Package clientlimits limits what clients cost: the connections and requests of strangers, and the
// bytes that the server holds for its users. Limits are by address, so it also says where a client
// is, and which addresses are counted as one.
//
// Connections ([Slots], [Listener]) and requests of HTTP/2 ([Requests]): one on which nobody has
// logged in is a guest. Where there is no room for a newcomer, a guest makes some, so that whoever
// opens connections and says nothing keeps nobody out: of the addresses with the most guests the
// one that came first. A fifth of all connections is for those who are logged in and for guests
// from addresses that somebody logged in from before, and strangers never take the slots of these.
// How much each may send before anybody knows who it is, [Conn] limits.
//
// Bytes ([Counter], [Share]): what users prepare, what waits to be sent to them and what they have
// sent is counted against a limit of the connection, of its user and of the server before it is
// spent, and given back afterwards. Whoever holds little may take one thing that is larger than the
// limit of a connection or of a user, or nobody could have it. The server's limit is never
// exceeded, and does not count the first bytes of each user ([Limits.Floor]), so that others who
// hold all of it refuse nobody a small answer.
//
// Addresses ([Trusted], [TrustProxies]): a client is at the other end of its connection or, behind
// a proxy that the owner trusts, where the proxy says, by the PROXY protocol or in a header of
// HTTP. What anybody else says about addresses is not believed.
package clientlimits
