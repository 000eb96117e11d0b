// Package reach says which values an expression can have where a column of it lies between two
// ends: a month of each day between two days, a hundred of each cost up to the highest. It finds
// them without looking at every point between the ends, because most of what people group by is a
// staircase: an expression that never falls is the same from a point up to the next step, which is
// found by bisection.
//
// All of it is about the question and the policy. That a value is missing here is no leak: an
// engine leaves out rows whose key is not among those that are shown. It would be a group too few,
// so what is returned is never less than what can occur.
package expr
