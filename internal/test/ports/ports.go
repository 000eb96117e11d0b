// Package ports finds ports for programs that tests start and that have to be told one.
package ports

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

var asked atomic.Int64

// Free is a port that nobody listens on, at any address. It is below those that the system gives to
// outgoing connections: one of them that is free now may be somebody's a moment later.
func Free(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 12_000 + (os.Getpid()*37+int(asked.Add(1)))%20_000
		if l, err := net.Listen("tcp", fmt.Sprint(":", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free from 12000 to 32000")
	return 0
}
