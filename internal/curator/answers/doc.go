// Package answers makes answers of what was released: rows and columns, averages and variances,
// HAVING, ORDER BY and LIMIT, error bars, and the query around the answers. It is post-processing:
// it sees noisy numbers, the noise that is in them and the text of the question, and neither an
// engine nor an exact value nor the ledger, which the test of the architecture holds. So whatever
// it does is free and tells nothing.
//
// [Released] is what it is given, [Finish] is what it does, and [Describe] says beforehand which
// columns an answer has. The exact value of a count or a sum is within its error bar with the
// probability that the answer says; what is computed of several noisy numbers has a bar by interval
// arithmetic, which is at least as sure, or none.
package answers
