// Package together puts answers of several servers to one question together: counts and sums are
// added up, and averages are made of sums and counts that were added up. It sees what servers have
// said, which may be anything: nothing of it is believed that can be checked.
//
// # Error bars
//
// A total is off by the sum of the noises of the servers, each drawn by itself. The variances of
// independent noises add up, which is what adding errors in squares means; but an error bar is more
// than a deviation. Two Laplace noises are no Laplace noise, and of a confidence of 0.9 the root of
// the summed squares of half widths would be too small. So servers say the law of their noise, and
// the half width is that of the law of the sum ([mech.HalfWidthOfSum]), which is never too small.
//
// An average is the total of the sums over the total of the counts, with the interval that each
// server has for its own ([mech.RatioAround]): both are within their half widths with half of what
// may fail each, and then so is the quotient. Sums are taken around one center for all: that of the
// servers, or the middle of all their bounds where they have different ones.
//
// What is not in the error bars is what no server knows: how many people are at two of them.
package together
