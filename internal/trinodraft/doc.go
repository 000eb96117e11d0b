// Package trinodraft drafts a policy from what a Trino cluster says about its tables: types,
// columns that are never NULL, and comments. Trino knows neither keys nor references nor checks,
// so whose rows are is guessed by the names of columns, with a question mark; bounds and keys are
// the owner's to say. No row is read, unless the owner asks for bounds that are taken from the
// data.
package trinodraft
