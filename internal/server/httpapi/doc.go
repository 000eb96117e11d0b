// Package httpapi is the interface for programs: JSON over HTTP under /v1, described by the OpenAPI
// document that it serves. The document is made of the operations themselves, and tests hold every
// route and every answer against it.
//
// # Who comes in
//
// Every request says who sends it: Authorization: Bearer with a token, or Basic with name and
// password. It is checked every time, so who is revoked is out with the next request. Without it
// everything is the same 401, whether there is something at the address or not; only /healthz and
// /readyz, which say yes or no, are for everybody. Too many failures are a 429 with Retry-After. A
// browser signs in at /v1/signin, and then its cookie says who it is: a cookie is looked at only
// where the browser says that a page of this server sent the request, or, to read, its user.
// /v1/signin is for everybody too, and takes 8 KiB. The address of an attempt is that of the
// connection: behind a proxy it is the proxy's, and X-Forwarded-For is not believed.
//
// Analysts see what is theirs: the datasets that the policy lists them in, their own account, their
// own charges, tokens, sessions and logins. What is another's and what does not exist get the same
// 404, byte for byte. An owner sees all of it, the ledger and the audit, and asks nothing unless
// the policy lists them as an analyst too.
//
// # Questions
//
// POST /v1/query asks and /v1/explain prices; both wait for their turn at the dispatcher. The
// header Idempotency-Key, or request in the body, names a question for retries: with the same key
// it is charged once. Keys are an analyst's own: in the ledger a request is called analyst:key. Who
// sends none gets the one that was drawn, as a header, or as a member of a problem after which it
// may be needed. An answer is JSON, or what Accept asks for: application/x-ndjson is a line of
// meta, a line for each row and a line with end, without which the answer was cut off; text/csv has
// a column of errors beside each noisy one. All of them say the same.
//
// # Models
//
// POST /v1/models trains and /v1/models/quote prices, as questions do, with keys for retries. A
// model is named by its receipt: the number of the charge and half of its hash. Whoever was given
// the model knows that name, and gets it and its predictions by it, also where somebody else had
// paid; to others of the dataset it does not exist, and counting upwards finds nothing. Lists have
// what one paid for.
//
// # Problems
//
// Every error is application/problem+json (RFC 9457), also those of the mux and of the framework.
// Programs look at kind:
//
//	refused      422  the question cannot be asked; instead says what to write, and position where
//	budget       402  the question cannot be paid for. It is 402, and not 409, because what helps is more budget or a smaller
//	                  price, and not another try
//	price        402  the question was asked only where it is free, and is not; price says what it would cost
//	closed       423  questions failed after they were charged, and there are no new answers until the owner has released them
//	limit        429  too many questions, or too many answers that are not read; Retry-After says when to try again. 409 where it
//	                  is too many tokens
//	request      409  the Idempotency-Key was used for another question
//	window       409  the budget was renewed in between
//	timeout      504  the server's limit of time, which is a failure; what was charged stays charged
//	canceled     499  nobody waited for it
//	ended        410  the session was just ended, by the engine or by new data; afterwards it is missing
//	ending       503  the server shuts down
//	users        503  the users cannot be read
//	moved        409  the data changed under an answer that was to be sharpened
//	ledger       503  the ledger cannot be written
//	data         503  the data cannot be read, or the labels of a holdout; the owner has to look after it
//	training     500  a training failed after its charge
//	denied       401  who is it?
//	locked       429  too many failed attempts
//	role         403  it is for the owner, or for analysts
//	signature    403  it takes the signature of the ledger's owner
//	stale        409  what was signed does not fit any more; draft it again
//	exists       409  there is a user of this name
//	revoked      409  the user was revoked
//	running      409  another check of the whole ledger is running
//	origin       403  a page of another origin sent it
//	missing      404  there is no such thing, or it is not yours
//	path         404  there is nothing at this address
//	method       405  not with this method
//	invalid      422  the input is not as the document says
//	body         400, 408, 413 or 415  the body is broken, late, longer than 1 MiB, or not said to be JSON
//	unsupported  501  this server cannot do that
//	unexpected   500  everything else, always in the same words
//
// The member spent says whether something was charged, where that is known. Texts come from the
// question, the policy and the ledger, and never from the data or an engine.
//
// # What is not told
//
// The log has a line for each request of somebody who came in: who, from where, which route, which
// code. Those of strangers are there at level debug. It has no texts, no paths as they were sent,
// no sizes and no durations. The metrics are only what clients, the policy and the ledger decide;
// see the type metrics for the argument. The ledger leaves without its identity, with which guesses
// about the data could be tested.
//
// # Limits
//
// A body has at most 1 MiB and ten seconds to arrive, and is read whole before anything looks at
// it. After that there is no deadline for reading, because net/http takes one that passes for a
// client that hung up, and would cancel a question that takes longer. What a request holds (its
// body, and its answer until it is read) counts against its user and the server (package
// bytelimit). Everything else is the business of others: how many questions there are at once of
// the dispatcher, attempts of users, connections and the other deadlines of whoever runs the
// http.Server. No CORS header is ever sent, requests of other origins are refused, and nothing is
// cached.
package httpapi
