// Package solve holds training rows, has the losses that models are trained with, minimises the
// strongly convex sums of these over those, and proves how near it came. Package learn trains with
// it; nothing else of the curator does.
//
// # What is minimised
//
//	F(w) = sum of a_i phi(w.x_i, y_i) + (Lambda/2)|w|^2 + b.w
//
// with |x_i| <= R, 0 <= a_i <= 1, |phi'| <= G and 0 <= phi” <= c. Features are float32, and a, y,
// Lambda and R are float64: as real numbers, F is exactly given. [Minimise] returns a point whose
// gradient is proven to be short. [MinimiseExactly] returns what the real minimiser rounds to,
// which no order of rows, no number of processors and no arithmetic has a part in.
//
// Steps are Newton's, by conjugate gradients with a sample of the second derivative to make them
// few, and start where a part of the rows has its minimum. None of that has to be right: it
// proposes a point w, in float64, and what is claimed is claimed of w by computing the gradient
// there, with a bound for every rounding.
//
// # The gradient in float64
//
// Write u = 2^-53, gamma(k) = ku/(1-ku), |.| for the length of a vector. A number that went through
// k roundings is within gamma(k) of what it should be, in proportion (Higham 2002, Lemma 3.1); sums
// and products in any order, fused or not, because fusing only leaves out a rounding.
//
//  1. z = w.x as computed is within gamma(d) sum |w_j||x_j| <= gamma(d)|w|R of what it is: each
//     product rounds once and meets at most d-1 sums.
//  2. phi'(z, y) as computed is within E of what it is at the z computed (loss.go has the
//     proof of E, with an exponential of our own), and phi' moves by at most c for each unit of z.
//     So it is within E + c gamma(d)|w|R of what it should be. Call what is computed, times the
//     weight and rounded, t_i.
//  3. The sum of t_i x_i is computed by blocks of rows and sums of blocks, so that each t_i x_ij
//     meets at most D roundings (function depth; a few hundred for a million rows), and one for t_i
//     itself. In coordinate j this is off by at most gamma(D+1) times the sum of |t_i||x_ij|, as a
//     vector by gamma(D+1) R times the sum of |t_i|.
//  4. So the sum over rows is off by at most R (gamma(D+1) sum|t_i| + n (E + c gamma(d)|w|R)).
//  5. Adding Lambda w and b rounds three times, each in proportion to what is at most |sum| +
//     Lambda|w| + |b| long.
//
// The bound itself is computed in float64. It is a formula of positive terms with far fewer than
// 2^12 operations, so a factor of 1 + 2^-40 covers their rounding; lengths and the sum of |t_i|
// have their own factors for how many terms they have. What underflows is off by less than 2^-1074
// for each operation, and by 2^-527 in a length: 2^-500 is added for all of it. What overflows, or
// is no number, makes the bound infinite or no number, and no comparison with that is ever true.
//
// For a million rows with R = 1 all this is about 10^-7: what float64 can prove.
//
// # The gradient in pairs
//
// Where that is not enough, w, t_i and sums are pairs of float64 that stand for their sum. Two
// operations are exact: the sum of two float64 as a float64 and what rounding lost (Knuth 1969;
// function two), and the same for a product, by one fused operation. So with s for the high part of
// a sum, sum of h_j x_j = s + sum of (e_j + l_j) exactly, where e_j and l_j are what sums and
// products lost (Ogita, Rump, Oishi 2005). These are at most gamma(d+1) times sum |h_j x_j|
// together, are added up in float64 with the products of the low parts, each through at most d+4
// roundings, and nothing else rounds:
//
//  1. w.x is off by at most gamma(d+4) (gamma(d+4)|high| + |low|) R; as a number of 176 bits for
//     the loss, by 2^-160 of what it is at most more.
//  2. phi' is computed within 2^-112 from there by math/big, and multiplied by the weight; as a
//     pair it is off by at most 2^-104 G more.
//  3. The sum of t_i x_i, with k for the largest number of sums that one product meets, is off by
//     at most gamma(k+8)^2 R times the sum of |t_i|: what is lost is gamma(k+1) of the sum of sizes
//     at most, and it is added up through k+3 roundings.
//
// Lambda w and b are added in numbers of 400 bits. For a million rows with R = 1 this is about
// 10^-20, at the price of a few seconds.
//
// # The minimiser, rounded
//
// F is Lambda-strongly convex, so a gradient of length g at w means that the minimiser is within
// g/Lambda of w, in every coordinate too. If both ends of that interval round to the same multiple
// of the step in every coordinate, these are what the minimiser rounds to, whoever computed w. Only
// b is not known exactly: what is unknown of it adds to g. If they do not, the gradient is computed
// again in pairs, and if need be in numbers of 256, 512 and 1024 bits (math/big; with 2^-bits for u
// and the same steps 1 to 5, and no underflow), at points that Newton's steps make of w, until they
// do. A minimiser with a density is within g/Lambda of a boundary with a probability in proportion
// to g, and g falls with every bit; so not to be decided with 1024 bits has a probability of less
// than 2^-900, and then there is [ErrNotReached]. That is if steps converge, which is not proven
// for a number of steps that anybody would wait for: they are damped, so that each makes the
// gradient shorter, and [ErrNotReached] after some hundreds of them was not seen in any test.
package solve
