// Package tree is a question that has been checked: expressions, relations, and the private query
// made of them, with what each of them claims about itself, a type with its interval, whose rows it
// has, how far one person moves it. The trees are closed: what is not here cannot be asked, and an
// engine prints every kind of [Expr] and of [Relation] and nothing else. No part of the analyst's
// text is in them but constants.
//
// Nothing here decides whether a question may be asked. Packages expr and plan build trees, package
// verify derives their claims once more and shares nothing with them, and engines print them. Two
// questions with one [Query.Hash] are one question.
package tree
