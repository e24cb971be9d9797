package clustering_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tutti/internal/lab/clustering"
	"tutti/internal/testutil"
	"tutti/topology/discover"
)

// unzip opens a compressed file in testdata/reference.
func unzip(t testing.TB, name string) *gzip.Reader {
	t.Helper()
	f := testutil.Must(os.Open(filepath.Join("testdata", "reference", name)))(t)
	t.Cleanup(func() { f.Close() })
	return testutil.Must(gzip.NewReader(f))(t)
}

func reference(t testing.TB, name string) discover.Matrix {
	t.Helper()
	return testutil.Must(discover.NewMatrix(testutil.ReadRows(t, unzip(t, name+".csv.gz"))))(t)
}

func decode(t testing.TB, name string, to any) {
	t.Helper()
	testutil.NoError(t, json.NewDecoder(unzip(t, name)).Decode(to))
}

// same reports whether two results divide the members into the same groups, whatever the groups' numbers are.
// In `want` the members that belong to no group have the number `noise`.
func same(got discover.Labels, want []int, noise int) bool {
	if len(got) != len(want) {
		return false
	}
	toWant, toGot := map[int]int{discover.NoGroup: noise}, map[int]int{noise: discover.NoGroup}
	for i, g := range got {
		w, mapped := toWant[g]
		b, mappedBack := toGot[want[i]]
		if mapped && w != want[i] || mappedBack && b != g {
			return false
		}
		toWant[g], toGot[want[i]] = want[i], g
	}
	return true
}

// sameOr returns an error unless `same` finds the same groups in both results.
func sameOr(got discover.Labels, want []int, noise int) error {
	if same(got, want, noise) {
		return nil
	}
	return fmt.Errorf("another division: %v, want %v", got, want)
}

// noNoise is the argument `noise` of `same` if every member belongs to a group. No reference program uses this
// number.
const noNoise = -2

// python contains the results of Python programs for one matrix, by method and parameter.
type python map[string]json.RawMessage

func (p python) get(t *testing.T, key string, to any) {
	t.Helper()
	if err := json.Unmarshal(p[key], to); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
}

func near(got, want, relative float64) bool {
	return math.Abs(got-want) <= relative*math.Abs(want)+1e-12
}

// TestReferencePython compares all methods with results of scikit-learn, scipy and Python programs that follow
// the published descriptions.
func TestReferencePython(t *testing.T) {
	var all map[string]python
	decode(t, "python.json.gz", &all)
	checked := 0
	for name, p := range all {
		m := reference(t, name)
		for key := range p {
			method, parameter, _ := cutLast(key)
			check, known := checks[method]
			if !known {
				t.Fatalf("%s: %s: nothing to compare with", name, key)
			}
			if err := check(t, m, p, key, parameter); err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
			}
			checked++
		}
	}
	if checked != 155 {
		t.Errorf("%d results compared, want 155", checked)
	}
}

// cutLast splits a key at its last underscore, for example hdbscan_eom_4 into hdbscan_eom and 4.
func cutLast(key string) (method, parameter string, found bool) {
	i := strings.LastIndex(key, "_")
	if _, err := strconv.ParseFloat(key[i+1:], 64); err != nil {
		return key, "", false
	}
	return key[:i], key[i+1:], true
}

type check func(t *testing.T, m discover.Matrix, p python, key, parameter string) error

var checks = map[string]check{
	"kmedoids":             checkMedoids,
	"agglomerative":        checkCut(discover.Average, false),
	"rowward":              checkCut(discover.Ward, true),
	"average_heights":      checkHeights(discover.Average, false),
	"rowward_heights":      checkHeights(discover.Ward, true),
	"profile_row0":         checkProfile,
	"spectral":             checkSpectral,
	"spectral_eigenvalues": checkEigenvalues,
	"components":           checkComponents,
	"dbscan":               checkDBSCAN,
	"hdbscan_eom":          checkHDBSCAN(clustering.Mass),
	"hdbscan_leaf":         checkHDBSCAN(clustering.Leaves),
	"ssstree":              checkSSSTree,
}

func whole(parameter string) int {
	k, err := strconv.Atoi(parameter)
	if err != nil {
		panic(err)
	}
	return k
}

func checkMedoids(t *testing.T, m discover.Matrix, p python, key, parameter string) error {
	var want struct {
		Labels []int
		Cost   float64
	}
	p.get(t, key, &want)
	got, cost := clustering.KMedoids(m, whole(parameter))
	if !same(got, want.Labels, noNoise) || !near(cost, want.Cost, 1e-6) {
		return fmt.Errorf("%v at cost %g, want %v at %g", got, cost, want.Labels, want.Cost)
	}
	return nil
}

// tree clusters the rows of a distance matrix and returns the dendrogram. If `profile` is true, it first replaces
// the matrix by distances between whole rows; see discover.Profile.
func tree(m discover.Matrix, by discover.Linkage, profile bool) discover.Dendrogram {
	if profile {
		m = discover.Profile(m)
	}
	return discover.Agglomerate(m, by)
}

func checkCut(by discover.Linkage, profile bool) check {
	return func(t *testing.T, m discover.Matrix, p python, key, parameter string) error {
		var want []int
		p.get(t, key, &want)
		return sameOr(tree(m, by, profile).Cut(whole(parameter)), want, noNoise)
	}
}

func checkHeights(by discover.Linkage, profile bool) check {
	return func(t *testing.T, m discover.Matrix, p python, key, _ string) error {
		var want []float64
		p.get(t, key, &want)
		var got []float64
		for _, merge := range tree(m, by, profile).Merges {
			got = append(got, merge.Height)
		}
		return equal(got, want, 1e-9)
	}
}

func equal(got, want []float64, relative float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d numbers, want %d", len(got), len(want))
	}
	for i := range got {
		if !near(got[i], want[i], relative) {
			return fmt.Errorf("number %d is %g, want %g", i, got[i], want[i])
		}
	}
	return nil
}

func checkProfile(t *testing.T, m discover.Matrix, p python, key, _ string) error {
	var want []float64
	p.get(t, key, &want)
	profile := discover.Profile(m)
	got := make([]float64, profile.Len())
	for i := range got {
		got[i] = profile.At(0, i)
	}
	return equal(got, want, 1e-7) // recorded with 9 decimals
}

func checkSpectral(t *testing.T, m discover.Matrix, p python, key, parameter string) error {
	var want []int
	p.get(t, key, &want)
	got, _ := clustering.Spectral(m, whole(parameter))
	return sameOr(got, want, noNoise)
}

func checkEigenvalues(t *testing.T, m discover.Matrix, p python, key, parameter string) error {
	var want []float64
	p.get(t, key, &want)
	k := whole(parameter)
	_, got := clustering.Spectral(m, k)
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			return fmt.Errorf("eigenvalue %d is %g, want %g", i, got[i], want[i])
		}
	}
	return nil
}

func checkComponents(t *testing.T, m discover.Matrix, p python, key, _ string) error {
	var want struct {
		Threshold float64
		Labels    []int
	}
	p.get(t, key, &want)
	return sameOr(clustering.DBSCAN(m, want.Threshold, 1), want.Labels, noNoise)
}

func checkDBSCAN(t *testing.T, m discover.Matrix, p python, key, _ string) error {
	var want struct {
		Eps    float64
		MinPts int
		Labels []int
	}
	p.get(t, key, &want)
	return sameOr(clustering.DBSCAN(m, want.Eps, want.MinPts), want.Labels, -1)
}

func checkHDBSCAN(by clustering.Selection) check {
	return func(t *testing.T, m discover.Matrix, p python, key, parameter string) error {
		var want []int
		p.get(t, key, &want)
		return sameOr(clustering.HDBSCAN(m, whole(parameter), by), want, -1)
	}
}

func checkSSSTree(t *testing.T, m discover.Matrix, p python, key, parameter string) error {
	var want [][]int
	p.get(t, key, &want)
	alpha, err := strconv.ParseFloat(parameter, 64)
	if err != nil {
		return err
	}
	got := clustering.SSSTree(m, alpha)
	if len(got) != len(want) {
		return fmt.Errorf("%d depths, want %d", len(got), len(want))
	}
	for i := range got {
		if !same(got[i], want[i], noNoise) {
			return fmt.Errorf("another division at depth %d: %v", i, got[i])
		}
	}
	return nil
}

// TestReferenceR compares HDBSCAN and KMedoids with the R packages dbscan and cluster.
func TestReferenceR(t *testing.T) {
	var all map[string]map[string]map[string][]int // program, matrix, parameter
	decode(t, "r.json.gz", &all)
	checked := 0
	for name, bySize := range all["hdbscan"] {
		for size, want := range bySize {
			if err := sameOr(clustering.HDBSCAN(reference(t, name), whole(size), clustering.Mass), want, 0); err != nil {
				t.Errorf("hdbscan %s %s: %v", name, size, err)
			}
			checked++
		}
	}
	for name, byGroups := range all["pam"] {
		for k, want := range byGroups {
			got, _ := clustering.KMedoids(reference(t, name), whole(k))
			if err := sameOr(got, want, noNoise); err != nil {
				t.Errorf("pam %s %s: %v", name, k, err)
			}
			checked++
		}
	}
	if checked != 30 {
		t.Errorf("%d divisions compared, want 30", checked)
	}
}
