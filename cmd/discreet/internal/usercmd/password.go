package usercmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/server/users"
)

type userPasswordCmd struct {
	usersFlags
	Name          string `arg:"" help:"The name of the user."`
	PasswordStdin bool   `help:"Read the password, a line, from standard input instead of drawing one."`
}

func (userPasswordCmd) Help() string {
	return `Draws a new password and prints it this once. The old one no longer counts. A user who was revoked can come in again;
tokens that were revoked stay so.

  discreet user password ana --policy hospital.yaml`
}

func (c *userPasswordCmd) Run(ctx context.Context, s console.Screen) error {
	password, err := readPassword(s.In, c.PasswordStdin)
	if err != nil {
		return err
	}
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	drawn, err := store.SetPassword(ctx, c.Name, password)
	if err != nil {
		return refuseUser(c.Name, err)
	}
	if c.JSON {
		out := map[string]any{"name": c.Name}
		if drawn != "" {
			out["password"] = drawn
		}
		return console.PrintJSON(s.Out, out)
	}
	fmt.Fprintf(s.Out, "%s has a new password\n", c.Name)
	printDrawnPassword(s, drawn)
	return nil
}

// readPassword reads a password from standard input, where it was asked to. The command line is no
// place for one: everybody on the machine can read it there.
func readPassword(in io.Reader, asked bool) (string, error) {
	if !asked {
		return "", nil
	}
	line, err := bufio.NewReader(io.LimitReader(in, 64<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("the password could not be read: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", console.Misuse(errors.New("there is no password in standard input; " + users.PasswordRule))
	}
	return line, nil
}
