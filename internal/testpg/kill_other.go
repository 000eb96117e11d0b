//go:build !unix

package testpg

import "testing"

// Kill ends the server at once.
func (s *Server) Kill(t testing.TB) { s.Stop(t) }
