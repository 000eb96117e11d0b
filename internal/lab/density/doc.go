// Package density computes what a model trained with objective perturbation loses, from the density
// of its weights. Nothing is estimated and no code of package learn runs here: losses, gradients
// and densities are written from their definitions, so that the two can disagree.
//
// The weights w minimise F(w) + b.w, so b = -grad F(w), and the density of w on a database is
//
//	p(w) = q(-grad F(w)) det(F''(w))
//
// with q the density of b. On two databases the privacy loss at w is the difference of the
// logarithms. With one or two weights it is evaluated where somebody says ([Loss]), its largest
// value is searched for over weights and neighbours together ([Search]), and with Gaussian noise it
// is integrated to the hockey-stick divergence and to the Renyi divergences ([Curve]).
//
// What a search finds is a lower bound on the true loss, whatever it misses. A claim that stands
// was in danger where what was found comes close to it; the tests say how close that is, and plant
// the errors of other libraries, each of which must be found.
//
// Computations are in float64. Integrals are by Gauss-Legendre on panels that end where a loss
// bends, with relative errors below 1e-6; a claim is refuted where it is surpassed by more.
package density
