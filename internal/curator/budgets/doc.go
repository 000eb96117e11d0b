// Package budgets reads and raises the accounts of a dataset: what each analyst, group and window
// has spent and has left, what the budget promises to the people in the data, top-ups and renewals.
// It reads the ledger and never data, and charges nothing: what a question is charged to is said
// here ([DatasetAccounts.Charged]), and the curator charges it.
package budgets
