package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// parse adds the imports, uses and functions of one file to the package.
func (p *Package) parse(root, file string) error {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("the architecture rules cannot read a file: %w", err)
	}
	at := func(node ast.Node) string {
		pos := fset.Position(node.Pos())
		if rel, err := filepath.Rel(root, pos.Filename); err == nil {
			pos.Filename = filepath.ToSlash(rel)
		}
		return fmt.Sprintf("%s:%d", pos.Filename, pos.Line)
	}
	names := map[string]string{} // of imports in this file, to their paths
	for _, spec := range tree.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: import %s: %w", at(spec), spec.Path.Value, err)
		}
		name := localName(spec, target)
		names[name] = target
		p.Imports = append(p.Imports, Import{Path: target, Dot: name == ".", At: at(spec)})
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			p.Functions = append(p.Functions, functionName(n))
		case *ast.GoStmt:
			p.Goroutines = append(p.Goroutines, at(n))
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && names[pkg.Name] != "" {
				p.Uses = append(p.Uses, Use{Path: names[pkg.Name], Name: n.Sel.Name, At: at(n)})
			}
		}
		return true
	})
	return nil
}

// functionName is that of a function, behind the name of its type if it is a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// parseTests adds the names of what go test runs of one file to the package.
func (p *Package) parseTests(file string) error {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("the architecture rules cannot read a file of tests: %w", err)
	}
	for _, declared := range tree.Decls {
		f, ok := declared.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Name.Name == "TestMain" {
			continue
		}
		kind := func(prefix string) bool { return strings.HasPrefix(f.Name.Name, prefix) }
		if slices.ContainsFunc([]string{"Test", "Fuzz", "Example"}, kind) {
			p.Tests = append(p.Tests, f.Name.Name)
		}
	}
	return nil
}

// localName is what an import is called in its file. For an import without a
// name it is the last element that is no version, which is right for the
// standard library.
func localName(spec *ast.ImportSpec, target string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	last := path.Base(target)
	if number, ok := strings.CutPrefix(last, "v"); ok {
		if _, err := strconv.Atoi(number); err == nil {
			return path.Base(path.Dir(target))
		}
	}
	return last
}
