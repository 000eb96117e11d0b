// Package grammar is the one guard and the one parser for whatever text of SQL comes from outside,
// by whichever way: limits on its length, its words and its depth come first, because the
// grammar recurses and a hostile text must not choose how deep, and then PostgreSQL's own parser
// reads it. What a text means, and what to tell who sent it, is for others.
package grammar
