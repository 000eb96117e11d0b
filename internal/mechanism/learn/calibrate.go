package learn

// How much noise a training needs is decided before any data is looked at ([Problem]). This is the
// proof of what it costs.
//
// # What is minimised
//
//	F(w) = sum of a_i phi(w.x_i, y_i) + (Lambda/2) |w|^2
//
// a sum and not a mean, so that no claim needs to know how many rows there are: Lambda is n times
// the regulariser of a mean, and 1/C of other libraries. Every row has |x| <= R, with the constant
// feature of the intercept among its features, so that it is clipped and regularised like all
// others: one that is not has no guarantee at all. |phi'| <= G and 0 <= its second derivative <= c
// in the score, and 0 < a_i <= 1. A person has at most m rows.
//
// Between neighbours the gradient of the sum moves by at most S = m G R where a person is added or
// removed, and by S = 2 m G R where one is substituted. Write kappa = c R^2/Lambda, and d for the
// number of weights.
//
// # Output perturbation
//
// F is Lambda-strongly convex, so its minimiser moves by at most S/Lambda (Chaudhuri, Monteleoni,
// Sarwate 2011, Lemma 7), in sum form. What is computed is no minimiser; what
// the difference can be is added to the sensitivity.
//
// # Objective perturbation
//
// The minimiser w of F(w) + b.w is released. At a given w it is b = -grad F(w), and the density of
// w is that of b times det(A + U): A is Lambda I and the second derivatives of the rows that both
// databases have, and U of those that only this one has. The other has A + V with the same A,
// because w is the same. U, V >= 0, so
//
//	det(A+U)/det(A+V) <= det(A+U)/det(A) = det(I + A^-1/2 U A^-1/2) <= e^J,   J = k ln(1 + m kappa/k),   k = min(m, d)
//
// because the matrix added to I has rank k at most and a trace of m kappa at most. Chaudhuri,
// Monteleoni and Sarwate (2011, Theorem 9) compare A + U with A + V themselves and get 2 ln(1 +
// kappa) for m = 1: twice as much. In the literature R is 1; it is R^2 that belongs into kappa, and
// not R.
//
// Pure: b has a density in proportion to exp(-e'|b|/S) with e' = epsilon - J. Both factors together
// are at most e^epsilon.
//
// The logistic loss is straight where it is steep: where |phi'| is s, 0 <= s <= 1, its second
// derivative is s(1-s) and not 1/4 ([Problem].Tapered). One row adds s e'/M to the loss by its
// slope, M being how many rows differ, and at most ln(1 + 4 kappa s(1-s)) by its curvature, if only
// this database has it (det(I+X+Y) <= det(I+X) det(I+Y), and class weights below 1 only lower
// both). The larger the one, the smaller the other: from 4 kappa <= e'/M on the sum is at most
// e'/M, and the Jacobian costs nothing. For smaller regularisers the largest sum over s is charged.
//
// phi' of the Huber loss is only Lipschitz. The map from w to b is still Lipschitz, strongly
// monotone and onto, so it is a bijection that is differentiable almost everywhere, and densities
// change in the same way (area formula).
//
// # Gaussian objective perturbation, (epsilon, delta)
//
// With b of variance sigma^2 in every direction the privacy loss at w is at most b.D/sigma^2 +
// |D|^2/(2 sigma^2) + J, where D is what the rows that differ, M of them (m, or 2m), add to the
// gradient: a sum of s_j v_j with |v_j| <= G R. D depends on w, and so on b. But where the sign of
// phi' never changes, 0 <= s_j <= 1, and so b.D is at most the largest b.(sum of v_j over T) of all
// sets T; each of these is a normal number with a deviation of at most |T| G R sigma. With a union
// over all T,
//
//	delta(epsilon) <= sum over k = 1..M of C(M, k) H(k G R),
//	H(s) = E max(0, 1 - exp(tau - s Z/sigma)),   tau = epsilon - J - S^2/(2 sigma^2) > 0.
//
// The last term is the Gaussian mechanism's own profile (Balle, Wang 2018) at epsilon - J, and the
// others are far smaller. Where signs change there are 2^M sums with signs, each with H(M G R). For
// a tapered loss the Jacobian goes with the slope again: a row of this database adds the largest
// over s of s g + ln(1 + 4 kappa s(1-s)), g = b.v/sigma^2, which is at most the largest of 0, x g +
// l, (1-x) g + l and g, with l = ln(1+kappa) and x = l/(4 kappa) (three tangents of a concave
// function). So where all slopes are 1, which is the term that matters, there is no Jacobian.
//
// With K classes the b of each is independent, so deviations add up in squares, and J and S^2 K
// times. Where people have so many rows that there are too many sums, the rho below converts to a
// smaller deviation (Canonne, Kamath, Steinke 2020, Corollary 13), and the smaller of the two is
// taken.
//
// # Gaussian objective perturbation, rho
//
// Let g and g' be the gradients of the two databases at w, and D = g - g'. For a > 1, a|g|^2 -
// (a-1)|g'|^2 = |h|^2 - a(a-1)|D|^2 with h = a g - (a-1) g', the gradient of a function that is
// strictly convex while (a-1) m kappa < 1. Then h is injective, and changing variables from w to h,
//
//	(a-1) D_a <= a(a-1) S^2/(2 sigma^2) + sup ln det(A+U)^a det(A+V)^(1-a) / det(A + a U - (a-1) V).
//
// With U and V seen from A (their eigenvalues u_i and v_i add up to m kappa at most), det(I + aU -
// (a-1)V) >= det(I - (a-1)V) det(I + aU), because (I - (a-1)V)^-1 >= I; and a ln(1+u) - ln(1+au) <=
// a(a-1)u^2/2, and -(a-1) ln(1+v) - ln(1-(a-1)v) <= a(a-1)v^2/(2(1-(a-1)v)). So
//
//	D_a <= a (S^2/(2 sigma^2) + (m kappa)^2/2 (1 + 1/(1 - (a-1) m kappa))).
//
// What the Jacobian costs is of second order in kappa. For large a there is D_a <= a S^2/(2
// sigma^2) + J + C/(a-1), from the bound on b.D above and E exp(t sum of g_j) <= E exp(t M g) (C =
// ln 1.1514, the largest of ln(Phi(u) + exp(-u^2/2)/2); ln 2 where signs change). Where the two
// meet is for us to choose, so for every a0
//
//	rho = S^2/(2 sigma^2) + max((m kappa)^2/2 (1 + 1/(1 - (a0-1) m kappa)), J/a0 + C/(a0 (a0-1))).
//
// # Candidates
//
// Several regularisers can be tried on parts of the rows, one on each. The models of all k parts
// are one problem with k d weights: a row has its features in the block of its part, and zeros
// elsewhere, so it is no longer than before. All that was said needs no more of the regulariser
// than A >= Lambda I, so it holds with the least Lambda of all parts, with rank min(m, k d), and
// with noise of one scale for all of them. In the pure case every block has radial noise of its
// own, and what counts is the sum of |D_i| over the blocks, which is at most S too. To calibrate
// the parts one by one would be wrong: of a person's rows some can leave a part whose Jacobian is
// dear while others enter one whose noise is; and a Jacobian of d < m weights is cheaper than those
// of its rows apart.
//
// # Rounding
//
// Numbers here are float64, of public values only. Each is computed with a relative error far below
// roundingSlack, and noise is made larger by that factor, so that what is claimed holds for the
// numbers as they are.
