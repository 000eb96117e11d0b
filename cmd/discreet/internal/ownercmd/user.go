package ownercmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

type UserCmd struct {
	Add         userAddCmd         `cmd:"" help:"Add an owner or an analyst."`
	List        userListCmd        `cmd:"" help:"List the users who can sign in, and those who no longer can."`
	Password    userPasswordCmd    `cmd:"" help:"Give a user a new password."`
	Revoke      userRevokeCmd      `cmd:"" help:"Lock a user out from now on, with all tokens."`
	Token       userTokenCmd       `cmd:"" help:"Make a token, a password for a program."`
	Tokens      userTokensCmd      `cmd:"" help:"List tokens."`
	RevokeToken userRevokeTokenCmd `cmd:"" help:"End a token."`
	Logins      userLoginsCmd      `cmd:"" help:"Show logins, and attempts to log in."`
	Copy        userCopyCmd        `cmd:"" help:"Copy all users between a file and a database."`
}

func (UserCmd) Help() string {
	return `Analysts sign in with the names that the policy lists; owners see the ledger, and ask nothing.

  discreet user add ana --policy hospital.yaml
  discreet user list --policy hospital.yaml
  discreet user token --help`
}

type usersFlags struct {
	Policy string `help:"The policy file; the users are next to its ledger, as .users, or in its database." env:"DISCREET_POLICY" placeholder:"FILE" short:"p"`
	Users  string `help:"The file of the users, or the address of their database, if they are somewhere else." env:"DISCREET_USERS" placeholder:"FILE"`
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

type userAddCmd struct {
	usersFlags
	Name          string `arg:"" help:"The name: that of the analyst in the policy."`
	Role          string `help:"The role: owner or analyst." default:"analyst" placeholder:"ROLE"`
	PasswordStdin bool   `help:"Read the password, one line, from standard input instead of drawing one."`
}

func (userAddCmd) Help() string {
	return `Draws a password, prints it this once and stores only a value to check it with. An analyst can ask what the policy lets
the analyst of the same name ask. An owner sees the ledger and everybody's budget. A running server knows them at once.

  discreet user add ana --policy hospital.yaml
  discreet user add boss --policy hospital.yaml --role owner
  discreet user add ana --users /srv/hospital.users --password-stdin < password.txt`
}

func (c *userAddCmd) Run(ctx context.Context, s console.Screen) error {
	if err := users.CheckName(c.Name); err != nil {
		return console.Misuse(err)
	}
	path, p, err := c.path()
	if err != nil {
		return err
	}
	password, err := readPassword(s.In, c.PasswordStdin)
	if err != nil {
		return err
	}
	store, err := users.Open(path)
	if err != nil {
		return refuseUser(path, err)
	}
	defer store.Close()
	drawn, err := store.Add(ctx, c.Name, users.Role(c.Role), password)
	if err != nil {
		return refuseUser(c.Name, err)
	}
	warning := ""
	if p != nil && users.Role(c.Role) == users.Analyst && !isListedAnalyst(p, c.Name) {
		warning = fmt.Sprintf("%s can sign in but cannot ask anything yet: no dataset of the policy lists them. Write under its "+
			"'analysts': %s: {share: 0.1}", c.Name, c.Name)
		fmt.Fprintln(s.Err, "warning: "+warning)
	}
	if c.JSON {
		out := map[string]any{"name": c.Name, "role": c.Role, "users": path}
		if drawn != "" {
			out["password"] = drawn
		}
		if warning != "" {
			out["warning"] = warning
		}
		return console.PrintJSON(s.Out, out)
	}
	fmt.Fprintf(s.Out, "added %s as %s to %s\n", c.Name, c.Role, console.ShellQuote(path))
	printDrawnPassword(s, drawn)
	return nil
}

// isListedAnalyst reports whether a dataset lists an analyst.
func isListedAnalyst(p *policy.Policy, name string) bool {
	return slices.ContainsFunc(p.Names(), func(d string) bool { return p.Datasets[d].Analysts[name] != nil })
}

func printDrawnPassword(s console.Screen, drawn string) {
	if drawn != "" {
		fmt.Fprintf(s.Out, "password: %s\nIt is shown this once and stored nowhere.\n", strings.TrimSpace(drawn))
	}
}

type userListCmd struct{ usersFlags }

func (userListCmd) Help() string {
	return `Lists all users by name, with their roles, and since when they can or can no longer sign in.

  discreet user list --policy hospital.yaml`
}

func (c *userListCmd) Run(ctx context.Context, s console.Screen) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.List(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		rows := []map[string]any{}
		for _, u := range all {
			rows = append(rows, map[string]any{"name": u.Name, "role": u.Role, "created": timeJSON(u.Created),
				"revoked": timeJSON(u.Revoked)})
		}
		return console.PrintJSON(s.Out, map[string]any{"users": rows})
	}
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "there are no users yet; add somebody with 'discreet user add'")
		return nil
	}
	t := &render.Table{Header: []string{"name", "role", "created (UTC)", "revoked"}}
	for _, u := range all {
		t.Add(u.Name, string(u.Role), console.Timestamp(u.Created), timeWords(u.Revoked, ""))
	}
	t.Write(s.Out)
	return nil
}

type userPasswordCmd struct {
	usersFlags
	Name          string `arg:"" help:"The name of the user."`
	PasswordStdin bool   `help:"Read the password, one line, from standard input instead of drawing one."`
}

func (userPasswordCmd) Help() string {
	return `Draws a new password and prints it this once. The old one no longer works. A revoked user can sign in again; revoked
tokens stay revoked.

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
		return "", console.Misuse(errors.New("standard input holds no password; " + users.PasswordRule))
	}
	return line, nil
}

type userRevokeCmd struct {
	usersFlags
	Name string `arg:"" help:"The name of the user."`
}

func (userRevokeCmd) Help() string {
	return `From now on the user cannot sign in, by password or by token, and gets no further answers if already signed in. Their
questions and charges stay in the ledger. A new password lets them sign in again.

  discreet user revoke ana --policy hospital.yaml`
}

func (c *userRevokeCmd) Run(ctx context.Context, s console.Screen) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.Revoke(ctx, c.Name); err != nil {
		return refuseUser(c.Name, err)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"revoked": c.Name})
	}
	fmt.Fprintf(s.Out, "revoked %s, with all tokens\n", c.Name)
	return nil
}

type userRevokeTokenCmd struct {
	usersFlags
	ID string `arg:"" help:"The id of the token, as 'discreet user tokens' lists it."`
}

func (userRevokeTokenCmd) Help() string {
	return `From now on nobody can sign in with the token. Its id is the part between the two underscores.

  discreet user revoke-token 4f7zk0q2xm --policy hospital.yaml`
}

func (c *userRevokeTokenCmd) Run(ctx context.Context, s console.Screen) error {
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.RevokeToken(ctx, c.ID); err != nil {
		// Somebody may have given the whole token, which must not be repeated on a screen.
		return refuseUser(console.Shorten(c.ID, 11), err)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"revoked": c.ID})
	}
	fmt.Fprintf(s.Out, "revoked the token %s\n", c.ID)
	return nil
}

type userLoginsCmd struct {
	usersFlags
	Name string `arg:"" optional:"" help:"Only attempts under this name."`
	Last int    `help:"How many lines to show, the newest ones." default:"20" placeholder:"N"`
}

func (userLoginsCmd) Help() string {
	return `Shows logins and attempts to log in, the newest first. Similar attempts within one hour share a line. The outcomes are:
in; denied (a wrong name, password or token); locked (too many failures before); expired; revoked; and abandoned (hung
up).

  discreet user logins --policy hospital.yaml
  discreet user logins ana --policy hospital.yaml --last 100 --json`
}

func (c *userLoginsCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Last < 1 {
		return console.Misuse(fmt.Errorf("--last %d: give a number of lines above 0", c.Last))
	}
	store, err := c.open()
	if err != nil {
		return err
	}
	defer store.Close()
	all, err := store.Logins(ctx, c.Name, c.Last)
	if err != nil {
		return err
	}
	if c.JSON {
		rows := []map[string]any{}
		for _, l := range all {
			rows = append(rows, map[string]any{"at": timeJSON(l.At), "until": timeJSON(l.Until), "count": l.Count,
				"name": l.Name, "address": l.Address,
				"door": l.Listener, "outcome": l.Outcome, "token": l.Token})
		}
		return console.PrintJSON(s.Out, map[string]any{"logins": rows})
	}
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "nobody has tried to sign in yet")
		return nil
	}
	t := &render.Table{Header: []string{"time (UTC)", "name", "address", "listener", "outcome", "times", "last", "token"},
		Right: []bool{false, false, false, false, false, true}}
	for _, l := range all {
		last := ""
		if l.Count > 1 {
			last = console.Timestamp(l.Until)
		}
		t.Add(console.Timestamp(l.At), l.Name, l.Address, l.Listener, l.Outcome, fmt.Sprint(l.Count), last, l.Token)
	}
	t.Write(s.Out)
	return nil
}

type userCopyCmd struct {
	From string `arg:"" help:"The users: a file, or postgres://..."`
	To   string `arg:"" help:"Where to copy them: a file or a database without users."`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (userCopyCmd) Help() string {
	return `Copies names with their passwords, tokens, revocations, saved items and the trail of logins, and then compares the two.
Nobody is replaced, and users in a browser must sign in again. Use it to move users along with a ledger ('discreet
ledger copy'): from the file next to it into its database, which several servers share, or back.

  discreet user copy hospital.users postgres://discreet@db.example.org/ledgers
  discreet user copy postgres://discreet@db.example.org/ledgers backup.users

The password of a database is in the environment variable DISCREET_LEDGER_PASSWORD, or in a file that PGPASSFILE names.
Start the servers that use the copy afterwards. A user revoked in one of the two is not revoked in the other: go on
with one, and remove the other.`
}

func (c *userCopyCmd) Run(ctx context.Context, s console.Screen) error {
	n, err := users.Copy(ctx, c.From, c.To)
	switch {
	case errors.Is(err, users.ErrNone):
		return console.Misuse(err)
	case errors.Is(err, users.ErrOccupied):
		return console.Misuse(fmt.Errorf("%s: %w", console.ShellQuote(c.To), err))
	case err != nil:
		return refuseUser(c.From, err)
	}
	if c.JSON {
		return console.PrintJSON(s.Out, n)
	}
	fmt.Fprintf(s.Out, "copied and compared: %s, %s, %d saved, %s of the trail\n", render.Count(int64(n.Users), "user"),
		render.Count(int64(n.Tokens), "token"), n.Saved, render.Count(int64(n.Logins), "line"))
	fmt.Fprintln(s.Out, "go on with only one of the two: a user revoked in one is not revoked in the other")
	return nil
}
