package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
)

// load bundles a file of the playground, as the page is bundled, and runs it. It returns a way to
// call what the file exports.
func load(t *testing.T, file string) (*goja.Runtime, func(name string, args ...any) goja.Value) {
	t.Helper()
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"../src/playground/" + file}, Bundle: true, Format: api.FormatIIFE, GlobalName: "exported",
		Target: api.ES2017, MinifySyntax: true, LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		t.Fatal(result.Errors[0].Text)
	}
	vm := goja.New()
	vm.SetFieldNameMapper(goja.UncapFieldNameMapper())
	if _, err := vm.RunString(string(result.OutputFiles[0].Contents)); err != nil {
		t.Fatal(err)
	}
	exported := vm.Get("exported").ToObject(vm)
	return vm, func(name string, args ...any) goja.Value {
		t.Helper()
		f, ok := goja.AssertFunction(exported.Get(name))
		if !ok {
			t.Fatalf("%s exports no function %s", file, name)
		}
		values := make([]goja.Value, len(args))
		for i, a := range args {
			values[i] = vm.ToValue(a)
		}
		v, err := f(goja.Undefined(), values...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
}

// chance is random numbers, the same in each run, and as the playground takes them.
func chance(vm *goja.Runtime) (*rand.Rand, func(goja.FunctionCall) goja.Value) {
	source := rand.New(rand.NewPCG(1, 2))
	return source, func(goja.FunctionCall) goja.Value { return vm.ToValue(source.Float64()) }
}

// figures are made by go test ./internal/server/web -rewrite, of package account.
type figures struct {
	Composition []map[string]float64
	Gaussian    []struct{ Mu, Delta, Epsilon, Right float64 }
	Guesses     []struct{ Epsilon, Delta, Right float64 }
}

// The playground says what the server's own accounting says.
func TestPlaygroundAgrees(t *testing.T) {
	text, err := os.ReadFile("../src/playground/figures.json")
	if err != nil {
		t.Fatal(err)
	}
	var want figures
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.Composition) < 100 || len(want.Gaussian) < 10 || len(want.Guesses) < 10 {
		t.Fatalf("%d, %d and %d figures", len(want.Composition), len(want.Gaussian), len(want.Guesses))
	}
	_, call := load(t, "theorems.ts")
	for _, w := range want.Composition {
		for _, theorem := range []string{"simple", "advanced", "optimal", "renyi", "concentrated"} {
			got := call(theorem, w["epsilon"], w["times"], w["delta"]).ToFloat()
			if !(math.Abs(got-w[theorem]) <= 1e-8*w[theorem]+1e-12) {
				t.Errorf("%s of %v at %v and %v: %v, and package account says %v", theorem, w["times"], w["epsilon"], w["delta"], got, w[theorem])
			}
		}
	}
	for _, w := range want.Guesses {
		if got := call("certain", w.Epsilon, w.Delta).ToFloat(); !(math.Abs(got-w.Right) <= 1e-10) {
			t.Errorf("guesses at %v and %v are right with %v, and package account says %v", w.Epsilon, w.Delta, got, w.Right)
		}
	}
	_, call = load(t, "laws.ts")
	for _, w := range want.Gaussian {
		if got := call("apartBy", call("gaussian", 3/w.Mu), 3).ToFloat(); !(math.Abs(got-w.Right) <= 1e-10) {
			t.Errorf("guesses at mu %v are right with %v, and package account says %v", w.Mu, got, w.Right)
		}
		if w.Epsilon == 0 {
			continue
		}
		if got := call("gaussianDelta", w.Mu, w.Epsilon).ToFloat(); !(math.Abs(got-w.Delta) <= 1e-8*w.Delta) {
			t.Errorf("delta of mu %v at %v: %v, and package account says %v", w.Mu, w.Epsilon, got, w.Delta)
		}
		if got := call("deviationFor", w.Epsilon, w.Delta, 3).ToFloat(); !(math.Abs(got-3/w.Mu) <= 1e-9*got) {
			t.Errorf("a deviation of %v at %v and %v, and package account says %v", got, w.Epsilon, w.Delta, 3/w.Mu)
		}
	}
}

// What is drawn follows the curve that is shown beside it (Kolmogorov, Smirnov), and the curve's
// integral is what it says.
func TestPlaygroundDraws(t *testing.T) {
	vm, call := load(t, "laws.ts")
	_, random := chance(vm)
	const n = 20000
	for i, name := range []string{"laplace", "gaussian"} {
		size := []float64{1, math.Sqrt(2 / math.Pi)}[i] // of a draw, on average
		law := call(name, 2.5).ToObject(vm)
		method := func(of string) func(goja.Value) float64 {
			f, _ := goja.AssertFunction(law.Get(of))
			return func(x goja.Value) float64 {
				v, err := f(law, x)
				if err != nil {
					t.Fatal(err)
				}
				return v.ToFloat()
			}
		}
		draw, below, density := method("draw"), method("below"), method("density")
		all, mean := make([]float64, n), 0.0
		for i := range all {
			all[i] = draw(vm.ToValue(random))
			mean += math.Abs(all[i]) / n
		}
		if ratio := mean / (2.5 * size); math.Abs(ratio-1) > 0.03 { // four of its deviations
			t.Errorf("%s is %.3f times as large as it should be", name, ratio)
		}
		slices.Sort(all)
		worst := 0.0
		for i, x := range all {
			worst = max(worst, math.Abs(below(vm.ToValue(x))-(float64(i)+0.5)/n))
		}
		if worst > 1.95/math.Sqrt(n) { // exceeded once in a thousand, and the numbers are always the same
			t.Errorf("%s is %.4f off its law", name, worst)
		}
		for _, x := range []float64{-9, -2, 0.5, 4} {
			const h = 1e-4
			slope := (below(vm.ToValue(x+h)) - below(vm.ToValue(x-h))) / (2 * h)
			if d := density(vm.ToValue(x)); math.Abs(slope-d) > 1e-6 {
				t.Errorf("%s at %v: density %v, and its integral rises by %v", name, x, d, slope)
			}
		}
	}
	chances := call("chances", 0.7, []float64{12, 11, 8})
	counts := make([]float64, 3)
	for range n {
		counts[call("pick", chances, random).ToInteger()]++
	}
	sum := 0.0
	for _, s := range []float64{12, 11, 8} {
		sum += math.Exp(0.7 * s)
	}
	for i, s := range []float64{12, 11, 8} {
		p := math.Exp(0.7*s) / sum
		if math.Abs(counts[i]/n-p) > 4*math.Sqrt(p*(1-p)/n) {
			t.Errorf("option %d was drawn with %.4f, and has %.4f", i, counts[i]/n, p)
		}
	}
}

// The interval of the survey holds the truth about as often as it says.
func TestPlaygroundSurvey(t *testing.T) {
	vm, call := load(t, "response.ts")
	_, random := chance(vm)
	for _, epsilon := range []float64{0.5, 1, 3} {
		held, half := 0, 0.0
		const rounds = 300
		for range rounds {
			var e []struct{ People, Value, Low, High float64 }
			if err := vm.ExportTo(call("crowd", 0.3, epsilon, []int{100, 500}, random), &e); err != nil {
				t.Fatal(err)
			}
			last := e[1]
			if last.Low <= 0.3 && 0.3 <= last.High {
				held++
			}
			half += (last.High - last.Low) / 2 / rounds
		}
		if share := float64(held) / rounds; share < 0.92 || share > 0.98 {
			t.Errorf("at epsilon %v the interval holds the truth with %.3f", epsilon, share)
		}
		plain := 1.96 * math.Sqrt(0.3*0.7/500)
		if blur := call("blur", 0.3, epsilon).ToFloat(); math.Abs(half/plain-blur) > 0.05*blur {
			t.Errorf("at epsilon %v intervals are %.3f wide, %.2f times those of the truth, and blur says %.2f", epsilon, half, half/plain, blur)
		}
	}
}

// The plain holdout runs away, Thresholdout does not, and new people say a half to both.
func TestPlaygroundHoldout(t *testing.T) {
	vm, call := load(t, "thresholdout.ts")
	source, random := chance(vm)
	fill := func(in goja.FunctionCall) goja.Value {
		bits := in.Argument(0).ToObject(vm)
		buffer := bits.Get("buffer").Export().(goja.ArrayBuffer).Bytes()
		for i := 0; i+4 <= len(buffer); i += 4 {
			binary.LittleEndian.PutUint32(buffer[i:], source.Uint32())
		}
		return goja.Undefined()
	}
	w := call("world", 1000, 400, fill)
	judge := call("thresholdout", 0.04, 0.01, random).ToObject(vm)
	ends := func(judge goja.Value) (training, reported, fresh float64) {
		var steps []struct{ Used, Training, Reported, Fresh float64 }
		if err := vm.ExportTo(call("overfit", w, judge, 101), &steps); err != nil {
			t.Fatal(err)
		}
		last := steps[len(steps)-11:]
		for _, s := range last {
			training, reported, fresh = training+s.Training/11, reported+s.Reported/11, fresh+s.Fresh/11
		}
		return training, reported, fresh
	}
	_, reported, fresh := ends(vm.Get("exported").ToObject(vm).Get("plain"))
	if reported < 0.6 || math.Abs(fresh-0.5) > 0.04 {
		t.Errorf("the plain holdout says %.3f, and new people %.3f", reported, fresh)
	}
	training, reported, fresh := ends(judge.Get("judge"))
	if training < 0.6 || math.Abs(reported-fresh) > 0.05 || math.Abs(fresh-0.5) > 0.04 {
		t.Errorf("training says %.3f, Thresholdout %.3f, and new people %.3f", training, reported, fresh)
	}
	if n := judge.Get("said").ToObject(vm).Get("asked").ToInteger(); n != 400+1+51 {
		t.Errorf("%d questions were asked", n)
	}
}
