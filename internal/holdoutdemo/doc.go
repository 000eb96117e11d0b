// Package holdoutdemo has two experiments that show what reusing a holdout does, and what package
// holdout and noise do about it. All data is made up, from internal/detrand, and the same seed
// gives the same numbers.
//
// [Classic] is the experiment of Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015 (Science): an
// analyst who selects, of many attributes, those that seem to go with a label, and asks a holdout
// before every step. [Lecture] is a small one: the largest of some means is kept, again and again.
package holdoutdemo
