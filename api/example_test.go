package api_test

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/api"
)

// Settings are read by the names that SET has in SQL, and what is wrong with them says what to
// write.
func Example() {
	s, err := api.ParseSettings(map[string]string{"dp.epsilon": "0.5", "dp.confidence": "0.9"})
	fmt.Println(s.Epsilon, s.Level(), err)
	fmt.Println(s.Set("dp.mechanism", "cauchy"))
	receipt, err := json.Marshal(api.DataVersion{Number: 3, Name: "november"})
	fmt.Println(string(receipt), err)
	// Output:
	// 0.5 0.9 <nil>
	// dp.mechanism: the mechanism must be laplace or gaussian
	// {"number":3,"name":"november"} <nil>
}
