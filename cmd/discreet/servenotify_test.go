package main

import (
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/ownercmd"
)

// The usual ports are taken: others are found, and only where nobody asked for them.
func TestServeDemoFindsPorts(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	if got := ownercmd.UsualOrFreePort(taken, taken); got != "127.0.0.1:0" {
		t.Errorf("got %s", got)
	}
	if got := ownercmd.UsualOrFreePort(taken, "127.0.0.1:1"); got != taken {
		t.Errorf("got %s", got)
	}
	if got := ownercmd.UsualOrFreePort("", ownercmd.DefaultHTTP); got != "" {
		t.Errorf("got %s", got)
	}
}

// Where nobody listens nothing is said, and nothing breaks.
func TestNotify(t *testing.T) {
	ownercmd.NotifySystemd("READY=1")
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "none"))
	ownercmd.NotifySystemd("READY=1")
}

// While there is progress systemd is asked to wait, and not with every step.
func TestStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		progress := ownercmd.NewTimeoutExtender(func(text string) { told = append(told, text) })
		for range 100 {
			progress()
			time.Sleep(time.Second)
		}
		if len(told) != 3 || told[0] != "EXTEND_TIMEOUT_USEC=300000000" {
			t.Errorf("systemd was told %q", told)
		}
	})
}
