// Package localsocket listens for one program: the one that started this process. It has a socket
// in a folder that only this user may look into, or a port of this machine where there are no such
// sockets, and whoever comes in has to know a token that was drawn for this process. The process
// ends with the program, however that ends: see [WhileOpen].
package localsocket

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/discreet-dp/discreet/internal/entropy"
)

type Socket struct {
	net.Listener
	// Folder is for this user alone, and gone after Close.
	Folder string
}

// Listen makes the folder, and listens in it.
func Listen() (*Socket, error) {
	if runtime.GOOS != "windows" {
		// The folder for temporary files can have a name that is too long for a socket's. A port is
		// where everybody on this machine can knock, and take all connections that there may be.
		for _, parent := range []string{"", "/tmp"} {
			if d, err := listenIn(parent, "unix"); err == nil {
				return d, nil
			}
		}
	}
	return listenIn("", "tcp")
}

// listenIn makes a folder, and listens in it on a network of a kind.
func listenIn(parent, network string) (*Socket, error) {
	folder, err := os.MkdirTemp(parent, "discreet-") // readable by its owner alone
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(folder, "socket")
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return &Socket{listener, folder}, nil
}

// Address is where it listens: unix: and a path, or http:// and a port of this machine.
func (d *Socket) Address() string {
	if d.Addr().Network() == "unix" {
		return "unix:" + d.Addr().String()
	}
	return "http://" + d.Addr().String()
}

// Close takes the folder away, too.
func (d *Socket) Close() error {
	err := d.Listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil // whoever served it has closed it
	}
	return errors.Join(err, os.RemoveAll(d.Folder))
}

func NewToken() string {
	source := entropy.New()
	return source.Name() + source.Name()
}

// RequireToken lets requests through that have a token.
func RequireToken(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			http.Error(w, "only the program that started this server may use it", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// WhileOpen returns a context that ends when in does: when the program on the other side of a pipe
// closes it, or ends, or is killed.
func WhileOpen(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		io.Copy(io.Discard, in) // whatever ends it
		cancel()
	}()
	return ctx, cancel
}
