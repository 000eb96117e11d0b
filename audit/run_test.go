package audit

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/finding"
)

func collect(t *testing.T, ctx context.Context, names []string, o Options) ([]finding.Finding, error) {
	t.Helper()
	var out []finding.Finding
	for f, err := range Run(ctx, names, o) {
		if err != nil {
			return out, err
		}
		out = append(out, f)
	}
	return out, nil
}

func TestRun(t *testing.T) {
	var steps []string
	o := Options{Samples: 20_000, Source: seededSources(3), Progress: func(done, of int, next string) { steps = append(steps, next) }}
	names := []string{"hadamard", "laplace", "hadamard"}
	first, err := collect(t, context.Background(), names, o)
	if err != nil || len(first) != 4 || first[0].Subject != "hadamard" || first[3].Subject != "laplace" || first[3].Samples != 40_000 {
		t.Fatalf("got %+v, %v", first, err)
	}
	if want := []string{"hadamard", "laplace", ""}; !slices.Equal(steps, want) {
		t.Errorf("progress is %q; want %q", steps, want)
	}
	if again, _ := collect(t, context.Background(), names, o); !*fresh && !reflect.DeepEqual(first, again) {
		t.Error("the same seed finds something else")
	}
}

func TestRunRefuses(t *testing.T) {
	var unknown *UnknownError
	if _, err := collect(t, context.Background(), []string{"laplace", "laplance"}, Options{}); !errors.As(err, &unknown) ||
		unknown.Name != "laplance" || !strings.Contains(err.Error(), "laplace, ") {
		t.Errorf("got %v", err)
	}
	for _, n := range []int{-1, 1, MostSamples + 1} {
		if found, err := collect(t, context.Background(), nil, Options{Samples: n}); !errors.Is(err, ErrSamples) || len(found) > 0 {
			t.Errorf("%d samples: %v, %v", n, found, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if found, err := collect(t, ctx, nil, Options{}); !errors.Is(err, context.Canceled) || len(found) > 0 {
		t.Errorf("got %v, %v", found, err)
	}
}

func TestNamesAreUnique(t *testing.T) {
	names := Names()
	slices.Sort(names)
	if n := len(names); n < 20 || len(slices.Compact(names)) != n {
		t.Errorf("got %q", names)
	}
}
