// Package audit tries to break the claims of every mechanism of Discreet, and says what it found.
//
// Each mechanism is tested twice. Where its outcomes can be counted, its privacy loss is
// computed from their probabilities on many pairs of neighbours (package enumerate), and the
// code that samples it is held against the same probabilities. Then the code is run as a
// black box on the worst of these pairs, and its loss is bounded from below with
// confidence (package stat). The first finds every error of calibration, however small,
// and the second what the first takes for granted.
//
// A claim falls where the loss is proven to be above it. All random errors of a run together refuse
// an honest claim with probability at most [Options].Beta, one in a million. What a claim that
// stands means is stated beside it: the bound that was reached, and the number of samples.
//
// The randomness is the operating system's, and so every run is another attempt. The tests of this
// package plant bugs from the literature and from other libraries: the audit finds each of them.
package audit
