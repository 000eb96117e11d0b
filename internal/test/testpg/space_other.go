//go:build !linux

package testpg

func hasSpace(string, uint64) bool { return false }
