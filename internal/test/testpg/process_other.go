//go:build !unix

package testpg

import (
	"os/exec"
	"testing"
)

func giveToServerUser(string) error { return nil }
func runAsServerUser(*exec.Cmd)     {}

// Kill ends the server at once.
func (s *Server) Kill(t testing.TB) { s.Stop(t) }
