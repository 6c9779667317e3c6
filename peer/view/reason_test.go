package view_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
)

func TestReasonClasses(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"":                                "",
		"NeedsOperator: the job of ann":   view.ReasonOperator,
		"AllSitesDeclined (3 sites)":      view.ReasonAllDeclined,
		"output not here yet: /home/ann":  view.ReasonOther,
		"ann: no room":                    view.ReasonOther,
		" NeedsOperator":                  view.ReasonOther,
		":":                               view.ReasonOther,
		"NeedsOperators":                  view.ReasonOther,
		"(Reservation of project secret)": view.ReasonOther,
	} {
		if got := view.ReasonClass(reason); got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
}

// TestEveryReasonIsAClass finds the reasons in the source, so that none is forgotten.
func TestEveryReasonIsAClass(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s is no text", spec.Names[0].Name)
		}
		reason, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		if found++; view.ReasonClass(view.Detailed(reason, "a detail")) != reason {
			t.Errorf("%s (%q) is no class", spec.Names[0].Name, reason)
		}
		return true
	})
	if found < 20 {
		t.Errorf("only %d reasons are found", found)
	}
}
