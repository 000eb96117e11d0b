// Package labels scores predictions against labels that stay sealed.
//
// A file of labels has one row for each person: an outcome, and perhaps an identifier. How many
// rows there are and what their identifiers are is public, because whoever predicts has to know for
// whom. The labels are private: which label stands in which row, which labels there are at all, and
// how often. Neighbouring files differ in the label of one row.
//
// # Scores
//
// A score is the sum, over the rows, of a whole number from 0 to Steps, and a perfect prediction
// has Steps in every row. So one label moves a score by at most Steps, and the mean, which is the
// sum over Steps times the number of rows, by at most 1/n.
//
//   - Steps is 1: a prediction is a name, right (1) or wrong (0). Names that are numbers are
//     compared as numbers, so that 1.0 is 1; others as text. A name that no label has is wrong like
//     any other: to refuse it would tell which labels there are.
//   - Steps is more: labels and predictions are numbers from 0 to 1, in steps of 1/Steps, and a row
//     scores 1 - |prediction - label|. A prediction between two steps is rounded to the nearer one,
//     and up from the middle.
//
// # Who sees what
//
// What is wrong with predictions ([*PredictionsError]) follows from the predictions, the number of
// rows and the identifiers, and is for analysts. What is wrong with a file of labels ([*FileError])
// names lines and no values, and is for the owner alone: that line 7 is not a number is something
// about line 7. [Labels.Version] is a hash of the contents, so whoever sees it can test guesses of
// all labels at once: it is for a ledger that keys it.
package labels
