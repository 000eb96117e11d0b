package pgwire_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/pgwire"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// A hospital behind the wire protocol, and an analyst with an ordinary PostgreSQL client.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	defer os.RemoveAll(dir)
	check(hospital.New(300, 1).Write(filepath.Join(dir, "data")))
	path := filepath.Join(dir, "policy.yaml")
	check(os.WriteFile(path, []byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 1}")+"    release: immediate\n"), 0o644))
	db, err := discreet.Open(ctx, path)
	check(err)
	defer db.Close()
	store, err := users.Open(filepath.Join(dir, "users"))
	check(err)
	defer store.Close()
	password, err := store.Add(ctx, "ana", users.Analyst, "")
	check(err)

	server := pgwire.New(pgwire.Options{Dispatcher: admission.New(db, admission.Options{}), Users: store, Version: "1.0"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go server.Serve(l)
	defer server.Shutdown(ctx)

	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://ana:%s@%s/hospital?sslmode=disable", password, l.Addr()))
	check(err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "SET dp.epsilon = 0.25")
	check(err)
	var noisy int64
	check(conn.QueryRow(ctx, "SELECT count(*) FROM patients WHERE age >= $1", 65).Scan(&noisy))
	_, err = conn.Exec(ctx, "SELECT age FROM patients")
	fmt.Println(err)
	left, err := db.Remaining(ctx, "hospital", "ana")
	check(err)
	fmt.Println("left:", left.Epsilon)
	// Output:
	// ERROR: age is not in GROUP BY, and values of single rows cannot be shown (SQLSTATE 42501)
	// left: 0.75
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
