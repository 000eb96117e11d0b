// Package training trains models (package learn) on the rows of a dataset, and goes the way of
// every question: prepare, price, recall, charge, run, release, keep. The engine hands rows,
// sealed, to a table that nobody can print; learn.Fit draws the noise and returns a model, which is
// kept before anybody sees it. A training that failed by itself is kept as a failure of its charge,
// so that noise is never drawn twice for one charge because of how the first turned out.
package training
