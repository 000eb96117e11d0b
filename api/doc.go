// Package api is the vocabulary of Discreet: what is asked and what is answered, with their JSON.
// The library, the curator, the handlers of the server and the command all use these types.
//
// A [Question] gets an [Answer], an [Explanation] or a [Refusal]. [StreamQuestion],
// [HoldoutQuestion], [SparseQuestion] and [TrainingQuestion] are for what a policy offers beside
// SQL. [Settings] say how an answer is to be, [Account], [Remaining] and [Receipt] what was spent.
package api
