//go:build darwin || freebsd || netbsd

package duckdb

import (
	"io/fs"
	"syscall"
)

func nodeOf(info fs.FileInfo) fileNode {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileNode{}
	}
	return fileNode{uint64(s.Dev), uint64(s.Ino), s.Ctimespec.Nano()}
}
