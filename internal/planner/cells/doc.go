// Package cells finds out what answers have to do with each other: which groups of a question are
// unions of the groups of another, so that its answer follows from one that was released ([Family],
// [EarlierAnswers], [Unions]), and which questions are linear over the cells of a stream
// ([Grid.Linear]). It looks at questions and the policy alone.
package cells
