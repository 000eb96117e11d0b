package store_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/store"
	"github.com/discreet-dp/discreet/store/testdata/thirdparty"
)

// A database that somebody brings along, with a driver of database/sql. Analysts see the name of
// its version and not the rest.
func Example() {
	s, err := thirdparty.Open(context.Background(), "CREATE TABLE patients AS SELECT range AS pid FROM range(3)")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.DB.Close()
	v, err := s.Version(context.Background())
	fmt.Println(s.Dialect == store.DuckDB, v.Name, err)
	// Output:
	// true monday <nil>
}
