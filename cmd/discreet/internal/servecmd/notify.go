package servecmd

import (
	"net"
	"os"
)

// notifySystemd tells systemd how the service is, where it wants to know. Nobody is harmed where it does
// not get there.
func notifySystemd(state string) {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := net.Dial("unixgram", socket) // a name that begins with @ is an abstract one
	if err != nil {
		return
	}
	defer conn.Close()
	conn.Write([]byte(state))
}
