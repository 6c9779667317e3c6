package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Check returns what is wrong with the module, one sentence each, sorted.
func (r Rules) Check(m *Module) []string {
	var found []string
	found = append(found, r.checkTopLevel(m)...)
	found = append(found, r.checkOwnNames(m)...)
	found = append(found, r.checkRace(m)...)
	found = append(found, r.checkPlain(m)...)
	found = append(found, r.checkPlugins(m)...)
	for _, p := range m.Packages {
		room, ok := r.room(p.Folder)
		if !ok {
			found = append(found, p.Folder+" is in no room: give it one in the rules and in docs/architecture.md")
			continue
		}
		found = append(found, r.checkArrows(m, p, room)...)
		found = append(found, r.checkLibraries(m, p)...)
		if room.Pure {
			found = append(found, r.checkClean(p)...)
			found = append(found, r.checkReach(m, p)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (r Rules) checkTopLevel(m *Module) (found []string) {
	for _, name := range m.Entries {
		if !strings.HasPrefix(name, ".") && !slices.Contains(r.TopLevel, name) {
			found = append(found, name+" is not one of the names at the top level")
		}
	}
	return found
}

// checkOwnNames checks that the rules speak of rooms that exist, because a rule
// that matches nothing never fails.
func (r Rules) checkOwnNames(m *Module) (found []string) {
	known := map[string]bool{"...": true}
	for _, room := range r.Rooms {
		known[room.Path] = true
		lived := slices.ContainsFunc(m.Packages, func(p *Package) bool {
			owner, _ := r.room(p.Folder)
			return owner == room
		})
		if !lived && !room.Planned {
			found = append(found, "the rules name the room "+room.Path+", which has no package; mark it planned or drop it")
		}
		if lived && room.Planned {
			found = append(found, "the rules call the room "+room.Path+" planned, but it has packages; drop the mark")
		}
	}
	named := func(rule, pattern string) {
		covers := func(room Room) bool { return match(pattern, room.Path) }
		if !known[pattern] && !slices.ContainsFunc(r.Rooms, covers) {
			found = append(found, fmt.Sprintf("the rules name %s under %s, but no room is called that", pattern, rule))
		}
	}
	for _, n := range r.Never {
		named("never", n.From)
		named("never", n.To)
	}
	for _, library := range r.Libraries {
		for _, pattern := range library.Rooms {
			named(library.Modules[0], pattern)
		}
	}
	return found
}

// checkArrows checks that the package imports only packages of lower levels and
// of its own room.
func (r Rules) checkArrows(m *Module, p *Package, room Room) (found []string) {
	for _, imp := range p.Imports {
		dir, own := m.dir(imp.Path)
		if !own {
			continue
		}
		if why := r.forbidden(p.Folder, dir); why != "" {
			found = append(found, fmt.Sprintf("%s: %s must not import %s: %s", imp.At, p.Folder, dir, why))
			continue
		}
		target, ok := r.room(dir)
		if ok && target != room && target.Level >= room.Level {
			found = append(found, fmt.Sprintf("%s: %s must not import %s: arrows point down", imp.At, p.Folder, dir))
		}
	}
	return found
}

// forbidden is the reason of the first [Never] that applies, "" if none does.
func (r Rules) forbidden(from, to string) string {
	for _, n := range r.Never {
		if match(n.From, from) && match(n.To, to) && !match(n.To, from) {
			return n.Why
		}
	}
	return ""
}

// checkLibraries checks the package's direct third-party imports.
func (r Rules) checkLibraries(m *Module, p *Package) (found []string) {
	for _, imp := range p.Imports {
		if !m.thirdParty(imp.Path) {
			continue
		}
		library, ok := r.library(imp.Path)
		switch {
		case !ok:
			found = append(found, fmt.Sprintf("%s: %s has no room: one third-party library, one room", imp.At, imp.Path))
		case !library.serves(p.Folder):
			found = append(found, fmt.Sprintf("%s: %s must not import %s: only %s may",
				imp.At, p.Folder, imp.Path, strings.Join(library.Rooms, ", ")))
		}
	}
	return found
}

// checkClean checks what the package itself imports from the standard library
// and does.
func (r Rules) checkClean(p *Package) (found []string) {
	for _, imp := range p.Imports {
		if standard(imp.Path) && !slices.Contains(r.Clean.Std, imp.Path) {
			found = append(found, fmt.Sprintf("%s: %s is pure and must not import %s", imp.At, p.Folder, imp.Path))
		}
		if imp.Dot {
			found = append(found, fmt.Sprintf("%s: %s is pure and must not import %s by a dot", imp.At, p.Folder, imp.Path))
		}
	}
	for _, u := range p.Uses {
		if slices.Contains(r.Clean.Banned[u.Path], u.Name) {
			found = append(found, fmt.Sprintf("%s: %s is pure and must not use %s.%s", u.At, p.Folder, u.Path, u.Name))
		}
	}
	for _, at := range p.Goroutines {
		found = append(found, fmt.Sprintf("%s: %s is pure and must not start a goroutine", at, p.Folder))
	}
	return found
}

// checkReach checks what the package imports at any distance: pure rooms, and
// third-party code that is meant for the package's own room.
func (r Rules) checkReach(m *Module, p *Package) (found []string) {
	for target, via := range m.reach(p) {
		if dir, own := m.dir(target); own {
			if room, ok := r.room(dir); !ok || !room.Pure {
				found = append(found, fmt.Sprintf("%s is pure and must not reach %s (by %s)", p.Folder, dir, via))
			}
			continue
		}
		if via == p.Folder {
			continue // direct: checkLibraries
		}
		if library, ok := r.library(target); !ok || !library.serves(p.Folder) {
			found = append(found, fmt.Sprintf("%s is pure and must not reach %s (by %s)", p.Folder, target, via))
		}
	}
	return found
}

// checkPlugins checks the module's example plugins, and that they need all that plugins may
// import.
func (r Rules) checkPlugins(m *Module) (found []string) {
	reached := map[string]bool{}
	for _, p := range m.Packages {
		if match(r.Plugins.Examples, p.Folder) {
			found = append(found, r.CheckPlugin(m, p)...)
			for target := range m.reach(p) {
				reached[r.Plugins.allowance(m, target)] = true
			}
		}
	}
	for _, allowed := range slices.Concat(r.Plugins.Own, r.Plugins.Modules) {
		if !reached[allowed] {
			found = append(found, fmt.Sprintf("the rules allow plugins to import %s, and no example does; drop it", allowed))
		}
	}
	return found
}

// CheckPlugin returns what a plugin imports at any distance and may not, one sentence each. The
// plugin need not be a package of the module.
func (r Rules) CheckPlugin(m *Module, p *Package) (found []string) {
	for target, via := range m.reach(p) {
		if r.Plugins.allowance(m, target) == "" {
			found = append(found, fmt.Sprintf("%s is a plugin and must not reach %s (by %s)", p.Folder, target, via))
		}
	}
	slices.Sort(found)
	return found
}

// allowance is the folder or module that allows an import, "" if none does.
func (p Plugins) allowance(m *Module, target string) string {
	if dir, own := m.dir(target); own {
		if slices.Contains(p.Own, dir) {
			return dir
		}
		return ""
	}
	i := slices.IndexFunc(p.Modules, func(module string) bool { return match(module+"/...", target) })
	if i < 0 {
		return ""
	}
	return p.Modules[i]
}

// ReadPlugin reads the imports of source files that are no package of a module. Folder is what
// the plugin is called.
func ReadPlugin(dir string, paths []string) (*Package, error) {
	p := &Package{Folder: dir}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			p.Imports = append(p.Imports, Import{Path: target, At: path})
		}
	}
	return p, nil
}

func (r Rules) library(target string) (Library, bool) {
	i := slices.IndexFunc(r.Libraries, func(l Library) bool {
		return slices.ContainsFunc(l.Modules, func(module string) bool { return match(module+"/...", target) })
	})
	if i < 0 {
		return Library{}, false
	}
	return r.Libraries[i], true
}

// serves says whether the library may be imported in the folder.
func (l Library) serves(dir string) bool {
	return slices.ContainsFunc(l.Rooms, func(room string) bool { return match(room, dir) })
}

// checkPlain checks that the patterns of [Room.Plain] name tests of their rooms, and none
// of another that runs under the race detector: go test -skip would leave that out.
func (r Rules) checkPlain(m *Module) (found []string) {
	for _, named := range r.Rooms {
		if named.Plain == "" {
			continue
		}
		pattern, err := regexp.Compile(named.Plain)
		if err != nil {
			found = append(found, fmt.Sprintf("the rules name the tests %q of %s: %v", named.Plain, named.Path, err))
			continue
		}
		own := false
		for _, p := range m.Packages {
			room, _ := r.room(p.Folder)
			i := slices.IndexFunc(p.Tests, pattern.MatchString)
			own = own || room == named && i >= 0
			if room != named && !room.Pure && room.Race == "" && i >= 0 {
				found = append(found, fmt.Sprintf("%s has a test %s, which is skipped as those of %s are: rename it",
					p.Folder, p.Tests[i], named.Path))
			}
		}
		if !own {
			found = append(found, fmt.Sprintf("%s has no test that the rules call %q", named.Path, named.Plain))
		}
	}
	return found
}

// checkRace checks that the patterns of [Room.Race] name tests: one that matches none
// would leave a room without the race detector in silence.
func (r Rules) checkRace(m *Module) (found []string) {
	for _, p := range m.Packages {
		room, _ := r.room(p.Folder)
		if room.Race == "" {
			continue
		}
		pattern, err := regexp.Compile(room.Race)
		switch {
		case err != nil:
			found = append(found, fmt.Sprintf("the rules name the tests %q of %s: %v", room.Race, p.Folder, err))
		case room.Pure:
			found = append(found, p.Folder+" is pure, so that the rules must not name tests for the race detector")
		case !slices.ContainsFunc(p.Tests, pattern.MatchString):
			found = append(found, fmt.Sprintf("%s has no test for the race detector, which the rules call %q", p.Folder, room.Race))
		}
	}
	return found
}
