package labels_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/discreet-dp/discreet/internal/mechanism/holdout/labels"
)

// Predictions are checked against what is public, and scored in a sealed sum, which only a
// mechanism opens.
func Example() {
	l, err := labels.Read(strings.NewReader("id,outcome\np1,ill\np2,well\np3,ill\n"), labels.Spec{Column: "outcome", ID: "id", Steps: 1})
	if err != nil {
		log.Fatal(err)
	}
	p, err := l.Check(labels.Predictions{Values: []string{"well", "ill", "ill"}, IDs: []string{"p2", "p3", "p1"}})
	if err != nil {
		log.Fatal(err)
	}
	score, err := l.Score(p)
	fmt.Println(l.Size(), score, err)
	_, err = l.Check(labels.Predictions{Values: []string{"well"}, IDs: []string{"p2"}})
	fmt.Println(err)
	// Output:
	// 3 [exact] <nil>
	// there are 1 predictions, but the holdout has 3 rows; submit one for each of the 3 rows
}
