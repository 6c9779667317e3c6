package archtest_test

import (
	"go/ast"
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
	repository := repositoryTexts(t)
	for _, file := range repository.files {
		if file.tree == nil {
			continue
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
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
					t.Errorf("%s: log message %s is not a name such as job_released", repository.positions.Position(text.Pos()), text.Value)
				}
			}
			return true
		})
	}
	if found < 100 {
		t.Errorf("only %d log calls are checked", found)
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
