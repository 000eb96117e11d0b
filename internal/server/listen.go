package server

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// PlaintextError: the address can be reached by others, and nothing would be encrypted.
type PlaintextError struct{ Address string }

func (e *PlaintextError) Error() string {
	return fmt.Sprintf("%s can be reached from other machines, and passwords, questions and answers would travel unencrypted. Give a "+
		"certificate and its key, listen on 127.0.0.1, or add --plaintext if something in front of the server encrypts",
		e.Address)
}

// listen takes an address. Whether it is a loopback one is read off what was taken: names and
// 0.0.0.0 can be anything.
func listen(address string, encrypted bool) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("another program already uses the address %s: stop it, or choose another port: %w", address, err)
	case errors.Is(err, syscall.EACCES):
		return nil,
			fmt.Errorf("the address %s needs a privilege, as ports below 1024 do; choose another port: %w", address, err)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s; write an address such as 127.0.0.1:5432: %w", address, err)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !encrypted && (!ok || !tcp.IP.IsLoopback()) {
		l.Close()
		return nil, &PlaintextError{address}
	}
	return l, nil
}
