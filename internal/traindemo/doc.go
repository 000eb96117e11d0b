// Package traindemo measures what private training gives, on data that nobody has to be protected
// in: rows that are made up ([Made]), or the Adult census of 1994 from files of the reader
// ([ReadAdult]).
//
// [Sweep] trains by every method at every price, on several random parts of the rows, and says how
// often the models are wrong about the others. [Promise] puts what the theorems promise beside what
// is observed. Both see exact errors, which is why they are for data like this and for nobody's
// own. Rows, parts and noise come from internal/detrand: the same seed gives the same numbers.
package traindemo
