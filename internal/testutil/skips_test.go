package testutil_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tutti/internal/testutil"
)

const root = "../.."

// reasons holds the functions that may skip a test for a special reason, with this reason.
var reasons = map[string]string{
	"internal/testutil NeedAllCases": "the test belongs to make test-all",
	"internal/testutil Missing":      "it fails where the need is demanded",
	"journal TestStaleLocks":         "other systems than Linux",
	"topology/discover cores":        "measurements of others, in the folder that CORES names",
	"doctor TestNeeds":               "only root is warned of being root",
	"surrogate/forest FuzzForest":    "inputs that are no rows",
	"service any":                    "rapid draws another action",
	"service end":                    "rapid draws another action",
}

// TestSkips checks that tests are skipped only for allowed reasons: a missing program (testutil.Need), go test
// -short, or an entry in `reasons`.
func TestSkips(t *testing.T) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		for _, name := range skipping(file) {
			found = append(found, folder+" "+name)
		}
		return err
	})
	testutil.NoError(t, err)
	slices.Sort(found)
	if want := slices.Sorted(maps.Keys(reasons)); !slices.Equal(found, want) {
		t.Errorf("skip by themselves:\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// skipping returns the functions of a file that skip a test for a reason other than -short.
func skipping(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		skips := false
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt:
				return !asked(n.Cond)
			case *ast.SelectorExpr:
				skips = skips || n.Sel.Name == "Skip" || n.Sel.Name == "Skipf" || n.Sel.Name == "SkipNow"
			}
			return true
		})
		if skips {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// asked reports whether a condition is testing.Short(). A test may always be skipped under it, because a flag of
// `go test` sets it.
func asked(cond ast.Expr) bool {
	c, ok := cond.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := c.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == "Short"
}

// TestGateDemands checks that the script .ci/run sets the environment variable of every testutil.Need. Under
// this script, a test for which a program is missing therefore fails.
func TestGateDemands(t *testing.T) {
	gate := testutil.Must(os.ReadFile(filepath.Join(root, ".ci", "run")))(t)
	source := testutil.Must(os.ReadFile("need.go"))(t)
	for _, variable := range regexp.MustCompile(`REQUIRE_\w+`).FindAllString(string(source), -1) {
		if !strings.Contains(string(gate), " "+variable+"=1") {
			t.Errorf(".ci/run does not set %s=1", variable)
		}
	}
}
