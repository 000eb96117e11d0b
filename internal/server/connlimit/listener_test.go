package connlimit

import (
	"io"
	"net"
	"testing"
)

// Who comes when it is full of users is closed, and who leaves makes room.
func TestListener(t *testing.T) {
	for _, c := range []struct{ most, perAddress int }{{2, 10}, {10, 2}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		limited := &Listener{Listener: l, Places: &Places{Most: c.most, PerAddress: c.perAddress}, First: 1,
			Newcomer: func(net.Addr) Newcomer { return Newcomer{Address: "here", Familiar: true} }}
		inside := make(chan net.Conn, 10)
		go func() {
			defer close(inside)
			for {
				conn, err := limited.Accept()
				if err != nil {
					return
				}
				Hold(With(t.Context(), conn))
				conn.Write([]byte("x"))
				inside <- conn
			}
		}()
		// enters says whether a connection is taken: whoever is gets a byte, whoever is not gets
		// the end.
		enters := func() bool {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			_, err = io.ReadFull(conn, make([]byte, 1))
			return err == nil
		}
		if one, two, three := enters(), enters(), enters(); !one || !two || three {
			t.Errorf("%+v: it is not two who are let in", c)
		}
		first := <-inside
		first.Close()
		first.Close() // counts once
		if !enters() || enters() {
			t.Errorf("%+v: it is not one who is let in after one left", c)
		}
		l.Close()
		for conn := range inside {
			conn.Close()
		}
		if all, here := limited.Places.Count("here"); all != 0 || here != 0 {
			t.Errorf("left are %d, %d of them from here", all, here)
		}
	}
}
