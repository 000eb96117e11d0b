//go:build !unix

package main

// limitFiles does nothing where files cannot be limited.
func limitFiles() {}
