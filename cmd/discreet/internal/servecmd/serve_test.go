package servecmd

import (
	"net"
	"path/filepath"
	"testing"
)

// The usual ports are taken: others are found, and only where nobody asked for them.
func TestServeDemoFindsPorts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	if got := usualOrFreePort(taken, taken); got != "127.0.0.1:0" {
		t.Errorf("got %s", got)
	}
	if got := usualOrFreePort(taken, "127.0.0.1:1"); got != taken {
		t.Errorf("got %s", got)
	}
	if got := usualOrFreePort("", DefaultHTTP); got != "" {
		t.Errorf("got %s", got)
	}
}

// Where nobody listens nothing is said, and nothing breaks.
func TestNotify(t *testing.T) {
	notifySystemd("READY=1")
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	notifySystemd("READY=1")
}
