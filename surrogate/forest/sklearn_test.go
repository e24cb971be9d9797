package forest_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"tutti/internal/testutil"
	"tutti/surrogate/forest"
)

// recorded is the content of testdata/sklearn.json, which testdata/record.py writes.
type recorded struct {
	Version string
	Order   []int
	Forests []struct {
		Criterion string
		Share     float64
		Rows      int
		R2        []float64
	}
	Trees []struct {
		Options struct {
			Criterion string `json:"criterion"`
			MinLeaf   int    `json:"min_samples_leaf"`
			MinSplit  int    `json:"min_samples_split"`
			MaxDepth  int    `json:"max_depth"`
		}
		Rows        int
		Nodes       int
		R2          float64
		Predictions []float64
	}
}

func loadRecorded(t *testing.T) recorded {
	t.Helper()
	text := testutil.Must(os.ReadFile("testdata/sklearn.json"))(t)
	var r recorded
	testutil.NoError(t, json.Unmarshal(text, &r))
	return r
}

// broadcastRows returns the rows of testdata/broadcast.csv, in the order in which record.py used them.
func broadcastRows(t *testing.T, order []int) (x [][]float64, micros []float64) {
	t.Helper()
	file := testutil.Must(os.Open("testdata/broadcast.csv"))(t)
	defer file.Close()
	records := testutil.Must(csv.NewReader(file).ReadAll())(t)
	for _, i := range order {
		var row [4]float64
		for j, field := range records[i+1] {
			row[j] = testutil.Must(strconv.ParseFloat(field, 64))(t)
		}
		x = append(x, []float64{math.Log2(row[0]) + 1, math.Log2(row[1]) + 1, math.Log2(row[2]) + 1})
		micros = append(micros, row[3])
	}
	return x, micros
}

// target scales times in the same way as record.py: milliseconds for the Poisson criterion, otherwise log10
// of microseconds.
func target(c forest.Criterion, micros []float64) []float64 {
	y := make([]float64, len(micros))
	for i, v := range micros {
		y[i] = math.Log10(v)
		if c == forest.Poisson {
			y[i] = v / 1000
		}
	}
	return y
}

func criterion(t *testing.T, name string) forest.Criterion {
	t.Helper()
	if name == "" {
		return forest.SquaredError
	}
	return testutil.Must(forest.ParseCriterion(name))(t)
}

func r2(y, predicted []float64) float64 {
	var mean, errs, spread float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for i, v := range y {
		errs += (v - predicted[i]) * (v - predicted[i])
		spread += (v - mean) * (v - mean)
	}
	return 1 - errs/spread
}

func predict(t *testing.T, f *forest.Forest, x [][]float64) []float64 {
	t.Helper()
	return testutil.Must(f.Predict(x))(t)
}

// TestForestsMatchScikitLearn checks that forests are as good as those of scikit-learn: the mean R² over
// ten seeds on test rows agrees within 0.01.
func TestForestsMatchScikitLearn(t *testing.T) {
	testutil.SkipShort(t)
	rec := loadRecorded(t)
	x, micros := broadcastRows(t, rec.Order)
	for _, want := range rec.Forests {
		t.Run(fmt.Sprintf("%s/%g", want.Criterion, want.Share), func(t *testing.T) {
			c := criterion(t, want.Criterion)
			y, n := target(c, micros), want.Rows
			var got, ref float64
			for seed, r := range want.R2 {
				f := fit(t, x[:n], y[:n], forest.Options{Criterion: c, Seed: uint64(seed)})
				got += r2(y[n:], predict(t, f, x[n:])) / float64(len(want.R2))
				ref += r / float64(len(want.R2))
			}
			t.Logf("mean R2 %.4f, scikit-learn %s %.4f", got, rec.Version, ref)
			if math.Abs(got-ref) > 0.01 {
				t.Errorf("mean R2 over %d seeds = %.4f, want %.4f ± 0.01", len(want.R2), got, ref)
			}
		})
	}
}

// TestSingleTreesMatchScikitLearn checks that a single tree on all rows equals scikit-learn's tree. The two
// may differ only where features are equally good.
func TestSingleTreesMatchScikitLearn(t *testing.T) {
	rec := loadRecorded(t)
	x, micros := broadcastRows(t, rec.Order)
	for _, want := range rec.Trees {
		t.Run(fmt.Sprintf("%+v", want.Options), func(t *testing.T) {
			o := want.Options
			c := criterion(t, o.Criterion)
			y, n := target(c, micros), want.Rows
			f := fit(t, x[:n], y[:n], forest.Options{Trees: 1, NoBootstrap: true, Criterion: c,
				MaxDepth: o.MaxDepth, MinSplit: o.MinSplit, MinLeaf: o.MinLeaf})
			if got := f.Nodes()[0]; got != want.Nodes {
				t.Errorf("nodes = %d, want %d", got, want.Nodes)
			}
			p := predict(t, f, x[:n])
			if got := r2(y[:n], p); math.Abs(got-want.R2) > 1e-9 {
				t.Errorf("training R2 = %.12f, want %.12f", got, want.R2)
			}
			for i, v := range want.Predictions {
				if math.Abs(p[i]-v) > 1e-9*(1+math.Abs(v)) {
					t.Fatalf("row %d predicted %.12g, want %.12g", i, p[i], v)
				}
			}
		})
	}
}
