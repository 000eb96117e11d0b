// Package usercmd has the commands of discreet user: who may come in to the server.
package usercmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

// UserCmd is discreet user.
type UserCmd struct {
	Add         userAddCmd         `cmd:"" help:"Add an owner or an analyst."`
	List        userListCmd        `cmd:"" help:"List who may come in, and who no longer may."`
	Password    userPasswordCmd    `cmd:"" help:"Give a user a new password."`
	Revoke      userRevokeCmd      `cmd:"" help:"Keep a user out, with all tokens, from now on."`
	Token       userTokenCmd       `cmd:"" help:"Make a token, a password for a program."`
	Tokens      userTokensCmd      `cmd:"" help:"List tokens."`
	RevokeToken userRevokeTokenCmd `cmd:"" help:"End a token."`
	Logins      userLoginsCmd      `cmd:"" help:"Show who came in, and who tried to."`
	Copy        userCopyCmd        `cmd:"" help:"Copy all users between a file and a database."`
}

func (UserCmd) Help() string {
	return `Analysts come in by the names that the policy lists; owners see the ledger, and ask nothing.

  discreet user add ana --policy hospital.yaml
  discreet user list --policy hospital.yaml
  discreet user token --help`
}

// usersFlags say which users.
type usersFlags struct {
	Policy string `help:"The policy file; the users are beside its ledger, as .users, or in its database." env:"DISCREET_POLICY" placeholder:"FILE" short:"p"`
	Users  string `help:"The file of the users, or the address of their database, where they are not there." env:"DISCREET_USERS" placeholder:"FILE"`
	JSON   bool   `help:"Print JSON." name:"json"`
}

// path returns where the users are, and the policy where one was named.
func (f usersFlags) path() (string, *policy.Policy, error) {
	if f.Policy == "" && f.Users == "" {
		return "", nil, console.Misuse(errors.New("name a policy with --policy, or a file of users with --users"))
	}
	if f.Policy == "" {
		return f.Users, nil, nil
	}
	p, err := policy.Load(f.Policy)
	if err != nil {
		return "", nil, err
	}
	if f.Users != "" {
		return f.Users, p, nil
	}
	return users.Beside(p.Ledger), p, nil
}

// open opens users that are there. Only 'user add' makes some.
func (f usersFlags) open() (*users.Store, error) {
	path, _, err := f.path()
	if err != nil {
		return nil, err
	}
	store, err := users.Find(path)
	if errors.Is(err, users.ErrNone) {
		return nil, console.Misuse(fmt.Errorf("%w. Add somebody with 'discreet user add'", err))
	}
	return store, refuseUser(path, err)
}

// refuseUser turns what the owner can put right into a refusal.
func refuseUser(what string, err error) error {
	var invalid *users.InvalidError
	switch {
	case errors.As(err, &invalid):
		return console.Misuse(err)
	case errors.Is(err, users.ErrUnknown), errors.Is(err, users.ErrExists), errors.Is(err, users.ErrRevoked),
		errors.Is(err, users.ErrNoToken):
		return console.Misuse(fmt.Errorf("%q: %w", what, err))
	}
	return err
}

// timeJSON is a time for machines, and nil where there is none.
func timeJSON(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// timeWords shows a time, or a word where there is none.
func timeWords(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return console.Timestamp(t)
}
