// Package solve minimises strongly convex sums, and proves how near it came.
package solve
