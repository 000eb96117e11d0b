package testpg

import (
	"os"
	"syscall"
)

// hasSpace reports whether there is a folder for temporary files with so many bytes free.
func hasSpace(dir string, bytes uint64) bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < bytes {
		return false
	}
	probe, err := os.MkdirTemp(dir, "pg")
	return err == nil && os.Remove(probe) == nil
}
