package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLogNames checks that the message of every log call is a name: an object and a verb in
// snake_case, such as job_released. Details belong in attributes.
func TestLogNames(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
	levels := []string{"Debug", "Info", "Warn", "Error"}
	found := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(levels, strings.TrimSuffix(method.Sel.Name, "Context")) || !isLogger(method.X) {
				return true
			}
			at := 0
			if strings.HasSuffix(method.Sel.Name, "Context") {
				at = 1
			}
			if text, ok := call.Args[at].(*ast.BasicLit); ok {
				found++
				if message, err := strconv.Unquote(text.Value); err != nil || !name.MatchString(message) {
					t.Errorf("%s: log message %s is not a name such as job_released", fset.Position(text.Pos()), text.Value)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || found < 100 {
		t.Errorf("%d log calls, %v", found, err)
	}
}

// isLogger reports whether an expression is named as loggers are: log, Log or logger.
func isLogger(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.EqualFold(x.Name, "log") || x.Name == "logger"
	case *ast.SelectorExpr:
		return isLogger(x.Sel)
	}
	return false
}
