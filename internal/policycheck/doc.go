// Package policycheck says what is wrong with a policy that its text alone does not tell: views
// that no question can use, streams and holdouts that nobody could ask, and files that are one file
// under two names. It is for the owner, and charges nothing.
package policycheck
