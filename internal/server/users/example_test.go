package users_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/internal/server/users"
)

func Example() {
	dir, err := os.MkdirTemp("", "users")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := users.Open(filepath.Join(dir, "hospital.users"))
	if err != nil {
		panic(err)
	}
	defer store.Close()

	// Without a password of its own, a user gets one that nobody can guess.
	drawn, err := store.Add(ctx, "ana", users.Analyst, "")
	fmt.Println(len(drawn), err)

	attempt := users.Attempt{Name: "ana", Address: "192.0.2.1", Listener: "http"}
	user, err := store.Password(ctx, attempt, drawn)
	fmt.Println(user.Name, user.Role, err)
	_, err = store.Password(ctx, attempt, "a guess")
	fmt.Println(err)

	secret, _, err := store.NewToken(ctx, "ana", "nightly report", time.Now().AddDate(0, 3, 0))
	fmt.Println(secret[:4], err)
	fmt.Println(store.Revoke(ctx, "ana"))
	_, err = store.Token(ctx, users.Attempt{Address: "192.0.2.1", Listener: "http"}, secret)
	fmt.Println(err)

	trail, err := store.Logins(ctx, "ana", 10)
	for _, line := range trail {
		fmt.Println(line.Name, line.Address, line.Outcome)
	}
	fmt.Println(err)
	// Output:
	// 39 <nil>
	// ana analyst <nil>
	// the name, the password or the token is wrong, or no longer valid
	// dsc_ <nil>
	// <nil>
	// the name, the password or the token is wrong, or no longer valid
	// ana 192.0.2.1 revoked
	// ana 192.0.2.1 denied
	// ana 192.0.2.1 in
	// <nil>
}
