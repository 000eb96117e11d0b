// Package benchmarks compares Discreet with its peers, in one run. It is a module
// of its own, so that peers are not dependencies of the project.
//
//	cd benchmarks && go test -bench .
package benchmarks
