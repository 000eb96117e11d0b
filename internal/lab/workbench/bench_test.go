package workbench

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask sends a line and numbers, and returns the line and the numbers of the answer.
func ask(t *testing.T, path, line string, numbers []byte) (status int, said map[string]any, rest []byte) {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(append([]byte(line+"\n"), numbers...)))
	answer := httptest.NewRecorder()
	New().ServeHTTP(answer, request)
	first, rest, _ := bytes.Cut(answer.Body.Bytes(), []byte("\n"))
	if err := json.Unmarshal(first, &said); err != nil {
		t.Fatalf("%s: %q: %v", path, first, err)
	}
	return answer.Code, said, rest
}

func good(t *testing.T, path, line string, numbers []byte) (map[string]any, []byte) {
	t.Helper()
	status, said, rest := ask(t, path, line, numbers)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d, %v", path, line, status, said)
	}
	return said, rest
}

func whole(b []byte) (out []int64) {
	for ; len(b) >= 8; b = b[8:] {
		out = append(out, int64(binary.LittleEndian.Uint64(b)))
	}
	return out
}

// What is drawn has the variance of its distribution, on one processor and on several.
func TestDraw(t *testing.T) {
	for _, c := range []struct {
		kind, parameter string
		variance        float64
	}{{"laplace", "10", 200}, {"laplace", "1/2", 0.362}, {"gaussian", "16", 16}, {"geometric", "10", 99.9}} {
		const n = 100_000
		_, rest := good(t, "/noise", fmt.Sprintf(`{"kind": %q, "parameter": %q, "count": %d}`, c.kind, c.parameter, n), nil)
		values := whole(rest)
		if len(values) != n {
			t.Fatalf("%s: %d draws", c.kind, len(values))
		}
		var sum, squares float64
		for _, v := range values {
			sum += float64(v)
			squares += float64(v) * float64(v)
		}
		mean := sum / n
		if got := squares/n - mean*mean; math.Abs(got/c.variance-1) > 0.06 { // nine deviations of Laplace's
			t.Errorf("%s %s: the variance is %v, want %v", c.kind, c.parameter, got, c.variance)
		}
	}
	if _, rest := good(t, "/noise", `{"kind": "laplace", "parameter": "1", "count": 0}`, nil); len(rest) != 0 {
		t.Error("nothing was asked for")
	}
}

func TestRelease(t *testing.T) {
	exact := make([]int64, 50_000)
	for i := range exact {
		exact[i] = int64(i) - 100
	}
	for line, variance := range map[string]float64{
		`{"kind": "laplace", "sensitivity": "3", "price": "0.5", "count": 50000}`:   2 * 36,
		`{"kind": "gaussian", "sensitivity": "4", "price": "0.02", "count": 50000}`: 100,
	} {
		said, rest := good(t, "/release", line, integerBytes(exact))
		var squares float64
		for i, v := range whole(rest) {
			squares += float64(v-exact[i]) * float64(v-exact[i])
		}
		if got := squares / float64(len(exact)); math.Abs(got/variance-1) > 0.09 {
			t.Errorf("%s: the variance is %v, want %v", line, got, variance)
		}
		if said["error"].(float64) < math.Sqrt(variance) || said["cost"] == nil {
			t.Errorf("%s: %v", line, said)
		}
	}
}

func TestAccountants(t *testing.T) {
	said, _ := good(t, "/compose", `{"mechanisms": ["laplace:epsilon=0.1,times=100"], "delta": 1e-6}`, nil)
	if said["tightest"] != "pld" || said["delta"] != 1e-6 {
		t.Errorf("composed: %v", said)
	}
	said, _ = good(t, "/compose", `{"mechanisms": ["gaussian:sigma=4,times=40"], "epsilon": 10}`, nil)
	if said["epsilon"] != 10.0 {
		t.Errorf("composed: %v", said)
	}
	said, _ = good(t, "/calibrate", `{"mechanisms": ["gaussian:times=40"], "epsilon": 1, "delta": 1e-6}`, nil)
	if v, _ := said["value"].(float64); math.Abs(v-26.72) > 0.01 || said["parameter"] != "sigma" {
		t.Errorf("calibrated: %v", said)
	}
}

const encoding = `"encoding": {"features": [{"name": "x", "lo": -1000, "hi": 1000, "step": "1/1000"}, {"name": "c", "values": ["a", "b"]}],
 "target": {"name": "y", "values": ["no", "yes"]}}, "spec": {"budget": {"epsilon": 5}}, "neighbours": "add-remove"`

// A model that is trained on rows is used on others: x above 0 says yes.
func TestFit(t *testing.T) {
	var rows []float64
	for i := range 4000 {
		x := float64(i%200)/100 - 0.995
		yes := 0.0
		if x > 0 {
			yes = 1
		}
		rows = append(rows, x, float64(i%3), yes) // 2 is none of the values
	}
	rows = append(rows, math.NaN(), math.NaN(), math.NaN(), math.Inf(1), -7, 1e300)
	line := strings.ReplaceAll("{"+encoding+`, "rows": 4002}`, "\n", "")
	said, _ := good(t, "/fit", line, realBytes(rows))
	if cost := said["cost"].(map[string]any); cost["epsilon"] != 5.0 {
		t.Errorf("the cost is %v", cost)
	}
	quoted, _ := good(t, "/quote", strings.ReplaceAll("{"+encoding+"}", "\n", ""), nil)
	if quoted["method"] != said["method"] || quoted["model"] != nil {
		t.Errorf("quoted %v", quoted)
	}
	model := must(json.Marshal(said["model"]))
	_, rest := good(t, "/predict", fmt.Sprintf(`{"model": %s, "rows": 3}`, model), realBytes([]float64{0.9, 0, -0.9, 1, math.NaN(), math.NaN()}))
	var scores []float64
	for ; len(rest) >= 8; rest = rest[8:] {
		scores = append(scores, math.Float64frombits(binary.LittleEndian.Uint64(rest)))
	}
	if len(scores) != 6 || scores[1] < 0.5 || scores[3] > 0.5 || math.Abs(scores[4]+scores[5]-1) > 1e-9 {
		t.Errorf("scores %v", scores)
	}
	// The same rows as texts are predicted alike.
	m := must(readModel(model))
	for i, row := range []map[string]string{{"x": "0.9", "c": "a"}, {"x": "-0.9", "c": "b"}, {"x": "", "c": ""}} {
		said, err := m.Predict(row)
		if err != nil || said.Scores["no"] != scores[2*i] || said.Scores["yes"] != scores[2*i+1] {
			t.Errorf("%v: %v, %v", row, said, err)
		}
	}
}

// What is wrong is said, in words that no row decides.
func TestRefusals(t *testing.T) {
	line := strings.ReplaceAll("{"+encoding+`, "rows": 2}`, "\n", "")
	for _, c := range []struct {
		path, line, says string
		numbers          []byte
	}{
		{"/noise", `{"kind": "cauchy", "parameter": "1", "count": 1}`, "the kinds are laplace", nil},
		{"/noise", `{"kind": "laplace", "parameter": "0", "count": 1}`, "scale", nil},
		{"/noise", `{"kind": "laplace", "parameter": "-1", "count": 1}`, "scale", nil},
		{"/noise", `{"kind": "laplace", "parameter": "x", "count": 1}`, "not a number", nil},
		{"/noise", `{"kind": "laplace", "parameter": "1", "count": -1}`, "from 0 to", nil},
		{"/noise", `{"kind": "laplace", "parameter": "1", "count": 1e12}`, "cannot be read", nil},
		{"/noise", `{"kind": "laplace", "seed": 1}`, "cannot be read", nil},
		{"/noise", `nothing`, "cannot be read", nil},
		{"/release", `{"kind": "laplace", "sensitivity": "0", "price": "1", "count": 0}`, "above 0", nil},
		{"/release", `{"kind": "laplace", "sensitivity": "1", "price": "0", "count": 0}`, "", nil},
		{"/release", `{"kind": "laplace", "sensitivity": "1", "price": "1", "count": 2}`, "1 numbers", integerBytes([]int64{1})},
		{"/release", `{"kind": "laplace", "sensitivity": "1", "price": "1", "count": 1}`, "more after", integerBytes([]int64{1, 2})},
		{"/release", `{"kind": "laplace", "sensitivity": "1", "price": "1", "count": 0, "beta": 1}`, "probability", nil},
		{"/compose", `{"mechanisms": ["laplace:epsilon=0.1"]}`, "give delta", nil},
		{"/compose", `{"mechanisms": ["laplace"], "delta": 1e-6}`, "", nil},
		{"/compose", `{"mechanisms": ["pure:epsilon=1"], "delta": 1e-6, "direction": "up"}`, "direction", nil},
		{"/calibrate", `{"mechanisms": ["gaussian"], "delta": 1e-6}`, "give the epsilon and delta", nil},
		{"/fit", line, "announced", realBytes([]float64{1})},
		{"/fit", strings.Replace(line, `"rows": 2`, `"rows": -1`, 1), "too many", nil},
		{"/fit", strings.Replace(line, "add-remove", "nobody", 1), "", nil},
		{"/fit", strings.Replace(line, `"hi": 1000`, `"hi": -1000`, 1), "constant", nil},
		{"/predict", `{"model": {}, "rows": 0}`, "model", nil},
		{"/predict", `{"rows": 0}`, "no model", nil},
	} {
		status, said, _ := ask(t, c.path, c.line, c.numbers)
		detail, _ := said["detail"].(string)
		if status != http.StatusUnprocessableEntity || !strings.Contains(detail, c.says) || detail == "" {
			t.Errorf("%s %s: %d, %v", c.path, c.line, status, said)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for b.Loop() {
		request := httptest.NewRequest(http.MethodPost, "/noise", strings.NewReader(`{"kind": "laplace", "parameter": "10", "count": 1000000}`))
		New().ServeHTTP(httptest.NewRecorder(), request)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
