package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// dir is the module's folder of an import path.
func (m *Module) dir(target string) (dir string, own bool) {
	if target == m.Path {
		return ".", true
	}
	return strings.CutPrefix(target, m.Path+"/")
}

func (m *Module) thirdParty(target string) bool {
	_, own := m.dir(target)
	return !own && !standard(target)
}

// standard says whether an import path belongs to the standard library: its
// first element is no host name.
func standard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".")
}

// reach returns the own and third-party packages that p imports at any
// distance, each with the chain of imports before it.
func (m *Module) reach(p *Package) map[string]string {
	own := map[string]*Package{}
	for _, other := range m.Packages {
		own[path.Join(m.Path, other.Folder)] = other
	}
	found := map[string]string{}
	var visit func(targets []string, via string)
	visit = func(targets []string, via string) {
		for _, target := range targets {
			if _, seen := found[target]; seen || standard(target) {
				continue
			}
			found[target] = via
			next := m.imports[target]
			if other, ok := own[target]; ok {
				next = other.targets()
			}
			visit(next, via+" > "+target)
		}
	}
	visit(p.targets(), p.Folder)
	return found
}

// targets lists the import paths of the package once each, sorted.
func (p *Package) targets() []string {
	set := map[string]bool{}
	for _, imp := range p.Imports {
		set[imp.Path] = true
	}
	return slices.Sorted(maps.Keys(set))
}
