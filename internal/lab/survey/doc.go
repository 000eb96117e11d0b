// Package survey is the local model of differential privacy: every person
// randomizes their own answer, and only what is randomized leaves their hands.
// Nobody has to be trusted with the data, because nobody has it.
//
// # The promise
//
// A report of a person who holds v is a random R(v). For every two values v and w
// of the domain, and every set S of reports,
//
//	P(R(v) in S) <= exp(epsilon) P(R(w) in S).
//
// That is pure epsilon-differential privacy between databases that differ in the value of one
// person ([dp.Substitute]); who took part is not hidden. It holds for every client of this package,
// with equality for some S, so that no privacy is paid for and not used. Every pure mechanism is
// also rho-zCDP with rho = epsilon tanh(epsilon/2), the Kullback-Leibler divergence of randomized
// response, to which it reduces (Kairouz, Oh, Viswanath 2015). With E = exp(epsilon):
//
//	          a report is                      P(the own value)  P(another)   bits
//	binary    yes or no                        p = E/(E+1)       q = 1/(E+1)  1
//	direct    a value out of k                 p = E/(E+k-1)     q = 1/(E+k-1)  log2 k
//	oue       k bits, each turned by itself    p = 1/2           q = 1/(E+1)  k
//	olh       a hash and a bucket out of g     p = E/(E+g-1)     q = 1/g      122 + log2 g
//	hadamard  a row and the value's sign in it p = E/(E+1)       q = 1/2      1 + log2 k
//
// A report supports the values that it could have been made of if nothing had been turned: p is the
// probability of supporting the person's own value, and q that of supporting any other one.
//
// What the promise rests on, by number:
//
//  1. Every probability that depends on the value is decided by a coin that is true
//     with probability b/(b+E), b an integer, exactly (see coin), or by a uniform
//     number (package noise). No floating-point number decides anything.
//  2. What the coin decides is whether to tell the truth, and of b equally likely
//     lies each has probability 1/(b+E). The ratio of truth to lie is E, exactly.
//  3. The hash of olh, the row of hadamard and the group of [Heavy] are drawn before
//     the value is looked at. They tell nothing, and the bound holds for each of them,
//     so that it would hold too if the collector chose them.
//  4. How much randomness is used depends on chance, and never on the value: a lie is
//     drawn also where it is not told.
//  5. A person reports once. Whoever answers twice pays twice: costs add up.
//
// Randomized response is of Warner 1965, direct encoding of Kairouz, Bonawitz, Ramage
// 2016, oue and olh of Wang, Blocki, Li, Jha 2017, and hadamard of Apple 2017 and
// Acharya, Sun, Zhang 2019 (with a bit, as in Cormode, Maddock, Maple 2021).
//
// # The estimate
//
// Let C be the number of the n reports that support x, and f the proportion of
// people who hold x. The mean of C is n (q + f(p-q)), so (C/n - q)/(p - q) is
// unbiased, and with C the sum of independent bits, f n of them with mean p,
//
//	n Var = q(1-q)/(p-q)^2 + f (1-p-q)/(p-q).
//
// This is for a [Fixed] population: f is the proportion among those who were asked. For a random
// [Sample] f is that of the population they are drawn from; C is binomial, and f(1-f) is added. For
// a binary question, with p = 1/2 + g, the two are 1/(16 g^2) - 1/4 and 1/(16 g^2) - (f - 1/2)^2.
//
// # Intervals
//
// Both laws of C are known exactly, and both move up with f, so intervals are made by inverting
// tests, without a normal approximation: of a Sample that is Clopper and Pearson's interval of
// 1934, of a Fixed population the same with the sum of two binomials. They cover the truth with the
// confidence that is asked for or more, for every n, and their ends are rounded outwards. An
// interval is within [0, 1]; the estimate itself is not cut, because then it would be biased.
//
// Estimates and intervals are computed from reports, so they cost nothing; neither
// does [NormSub], which makes estimates consistent.
package survey
