// Package policywords says in words what a policy means: its budget, its tables and columns, what
// becomes of failures, and what is allowed and hardly meant. It sees the policy and nothing else.
package policywords
