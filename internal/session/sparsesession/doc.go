// Package sparsesession opens sessions of the sparse vector: thousands of questions whether a count
// or a sum is at or above a threshold, at one price, until so many were "above". A session is
// charged for in full when it is opened, and its questions are then prepared, run and compared;
// nothing of them is recalled or kept for others. The noise of a session is in memory, and is gone
// with it.
package sparsesession
