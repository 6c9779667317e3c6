package archtest

import (
	"path"
	"slices"
	"strings"
)

// Rules is what must stay true of a module's packages. Folders are slash
// separated and relative to the module's root. A folder pattern is a folder, or
// one with "*" for any single element, or one that ends in "/..." for a folder
// and all below it.
type Rules struct {
	TopLevel  []string  // entries allowed at the module's root, besides dotfiles
	Rooms     []Room    // every package belongs to the first room that matches it
	Never     []Never   // arrows that the levels would allow, or that deserve a reason
	Libraries []Library // third-party code and who may import it
	Clean     Clean     // what pure rooms may not do
	Plugins   Plugins   // what plugins of other authors may import
}

// Room is a folder pattern and its place in the order of imports.
type Room struct {
	Path    string
	Level   int  // a package imports only packages of lower levels and of its own room
	Planned bool // no package matches yet; the mark must go when one does
	Pure    bool // imports, at whatever distance, only pure rooms; see [Clean]
	// Race is a pattern for go test -run: the tests that run under the race detector, where
	// the others have nothing but one goroutine. "" is all tests, and none of a pure room.
	Race string
	// Plain is a pattern as well: the tests that do not run under the race detector, though
	// the room is not pure. No other test under the detector may have such a name.
	Plain string
}

// Never forbids packages in From, but not in To, to import packages in To.
type Never struct {
	From, To, Why string
}

// Library is a group of third-party modules and the rooms that may import it.
type Library struct {
	Modules []string // import paths; packages below them are meant too
	Rooms   []string // paths of [Rules.Rooms], as written there
}

// Clean says what packages of pure rooms may use: no goroutines, and nothing
// beyond these.
type Clean struct {
	Std    []string            // the standard packages that they may import
	Banned map[string][]string // import path to the names not to be used
}

// Plugins is what a plugin of another author may import, at whatever distance: the SDK and what
// that needs, and nothing of the daemon.
type Plugins struct {
	Examples string   // folder pattern of the module's example plugins
	Own      []string // folders of the module
	Modules  []string // third-party modules
}

func (r Rules) room(folder string) (Room, bool) {
	i := slices.IndexFunc(r.Rooms, func(room Room) bool { return match(room.Path, folder) })
	if i < 0 {
		return Room{}, false
	}
	return r.Rooms[i], true
}

// match says whether the folder is one that the pattern means.
func match(pattern, folder string) bool {
	if pattern == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return folder == base || strings.HasPrefix(folder, base+"/")
	}
	ok, err := path.Match(pattern, folder)
	return ok && err == nil
}
