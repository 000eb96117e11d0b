// Package syntax is the text of a question, before anybody asks what it means: limits on its
// length, words and depth, which come first because the grammar recurses, PostgreSQL's own parser,
// and values of parameters, which become constants and nothing else. What it does not take it
// refuses: a [Refusal] follows from the text and the policy alone, so it tells nothing about the
// data and costs nothing.
package syntax
