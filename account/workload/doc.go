// Package workload asks every accountant at once: mechanisms are written the way
// people name them, and each theorem that applies says what they cost together, or
// how much noise a budget needs.
//
//	laplace:epsilon=0.1            laplace:scale=10        with sensitivity=, sample=
//	gaussian:sigma=4               gaussian:rho=0.02       with sensitivity=, sample=
//	discrete-laplace:scale=10                              with sensitivity=
//	discrete-gaussian:sigma2=16                            with sensitivity=
//	randomized-response:epsilon=1  exponential:epsilon=0.1 with sample=
//	pure:epsilon=0.1               approx:epsilon=0.1,delta=1e-9   with sample=
//
// sensitivity is 1 unless it is given; it is the l2 norm for Gaussian noise and the
// l1 norm for the others. sample is the rate of a Poisson sample. Sampling is for
// neighbours by adding or removing a person.
package workload
