// Package server is the process that `discreet serve` runs: one policy behind two doors, PostgreSQL's wire protocol (package
// pgwire) and HTTP (package httpapi), for users (package users) whose questions are all taken at one desk (package desk). It
// opens the listeners, and it ends in order.
package server
