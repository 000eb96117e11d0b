//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sqlite

// lock is nothing where there is no flock. There SQLite's own exclusive lock,
// which dies with the process as well, is the only one.
type lock struct{}

func acquire(string, bool) (*lock, error) { return &lock{}, nil }

func (*lock) release() error { return nil }

func wasUsed(string) bool { return false }

func markUsed(string) {}

func nameWriter(string) {}

func lastWriter(string) string { return "" }

func unmarkUsed(string) {}
