// Package client asks servers of Discreet over HTTP: one of them, or several together.
//
//	north, err := client.New("https://north.example:8432", token)
//	south, err := client.New("https://south.example:8432", other)
//	answer, err := client.Together(north, south).Ask(ctx, client.Question{SQL: "SELECT sex, COUNT(*) FROM patients GROUP BY sex"})
//
// The same question goes to every server, and each charges its own ledger first, at its own price.
// Counts and sums are added up, and averages are made of sums and counts that were added up, with
// the error bars of the sum of all noises (see internal/federate). What does not add up is refused
// before anybody is asked. A person who is at two servers counts twice, which every answer says.
//
// Nobody is asked, and nothing is charged, where one of the servers is away, refuses, or has not
// enough left for it. One that fails after that is another matter: what the others have answered is
// paid for, and [Partial] says who was charged. Each of them keeps its answer, so the same question
// with the same Request asks again without a second charge.
package client
