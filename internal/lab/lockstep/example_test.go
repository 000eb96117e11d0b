package lockstep_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/lab/lockstep"
)

// An owner replays the questions that a policy allows. There need not be any data.
func Example() {
	dir, err := os.MkdirTemp("", "replay-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "clinic.yaml")
	text := `
datasets:
  clinic:
    engine: duckdb
    source: clinic.duckdb
    unit: visits.patient
    budget: {epsilon: 1}
    analysts: {ana: {share: 1}}
    tables:
      visits:
        max_rows: 4
        max_groups: 2
        columns:
          ward: {type: text, keys: [north, south, west]}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
	findings, err := lockstep.Policy(context.Background(), path, lockstep.Options{Pairs: 6})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range findings {
		fmt.Printf("%t %.2f %s\n", f.Stands, f.Lower, f.Subject)
	}
	// Output:
	// true 1.00 SELECT COUNT(*) FROM "visits"
	// true 1.00 SELECT COUNT("ward") FROM "visits"
	// true 1.00 SELECT COUNT(*) FROM "visits" WHERE "ward" IS NULL
	// true 1.00 SELECT COUNT(*) FROM "visits" WHERE "ward" <> 'north'
	// true 1.00 SELECT COUNT(*) FROM "visits" WHERE "ward" IN ('a', 'é', '''', 'north')
	// true 1.00 SELECT "ward", COUNT(*) FROM "visits" GROUP BY "ward"
	// true 1.00 SELECT "ward", SUM(COUNT(*)) OVER (ORDER BY "ward") FROM "visits" GROUP BY "ward"
	// true 1.00 SELECT "ward", COUNT(*) FROM "visits" GROUP BY "ward" HAVING COUNT(*) > 5
	// true 1.00 SELECT "ward", COUNT(*) FROM "visits" GROUP BY "ward" ORDER BY COUNT(*) DESC LIMIT 3
	// true 1.00 SELECT "ward" FROM "visits" GROUP BY "ward" ORDER BY COUNT(*) DESC LIMIT 2
	// true 1.00 SELECT COUNT(*) FROM "visits" AS a JOIN "visits" AS b ON a."patient" = b."patient"
	// true 1.00 SELECT COUNT(*) FROM "visits" AS a WHERE EXISTS (SELECT 1 FROM "visits" AS b WHERE a."patient" = b."patient")
	// true 1.00 SELECT SUM(n) FROM (SELECT "patient", COUNT(*) AS n FROM "visits" GROUP BY "patient") AS t
	// true 0.00 SELECT COUNT(*) FROM "visits" and then SELECT COUNT(*) FROM "visits" WHERE "ward" IS NOT NULL
}

func ExamplePrint() {
	err := lockstep.WriteFindings(os.Stdout, []enumerate.Finding{
		{Subject: "SELECT COUNT(*) FROM a", Lower: 1, Samples: 10, Stands: true, Detail: "10 pairs of neighbours, 9 of them apart"},
		{Subject: "SELECT SUM(x) FROM a", Lower: 7, Samples: 3,
			Detail: "one person moves the exact values 7 times as far as the noise is calibrated to"},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// BROKEN  SELECT SUM(x) FROM a
	//         one person moves the exact values 7 times as far as the noise is calibrated to
	// stands  1.000  SELECT COUNT(*) FROM a (10 pairs of neighbours, 9 of them apart)
	// 2 questions, 1 broken; in the others one person moves the exact values by at most 1.000 of what the noise covers
}
