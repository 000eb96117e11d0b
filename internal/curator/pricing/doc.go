// Package pricing says what a question costs and how it is released: each of its measures gets a
// mechanism that is calibrated to its sensitivity, and the price is the sum of what the mechanisms
// claim. All of it follows from the text, the settings and the policy, and from nothing else: it
// sees neither an engine nor an exact value nor the ledger, which the test of the architecture
// holds.
//
//   - [Settings] are those of a question, with its price.
//   - [Price] makes a [Priced] of a statement: its different private queries, each a [Purchase]
//     with its [Noise], the [KeyRule] of private keys, or the [Selection] of the best groups.
//   - What was asked with an error instead of a price gets the smallest price that has it.
//   - A purchase is named by the hash of its query and its noise. Under that name it is paid for,
//     kept and recalled, so neither may ever change for the same question.
//   - [Priced.Inquiry] explains all of it in words.
package pricing
