package staging

import (
	"path"
	"slices"
	"strings"
)

// matches says whether a pattern names a file below the working directory, or a directory above the file. The
// pattern "." names all files but those whose path begins with a dot. As in a shell, a dot at the beginning of
// an element must be matched by one.
func matches(pattern, name string) bool {
	elements := strings.Split(name, "/")
	if pattern == "." {
		return !strings.HasPrefix(name, ".")
	}
	wanted := strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	if len(elements) < len(wanted) || len(elements) == len(wanted) && strings.HasSuffix(pattern, "/") {
		return false
	}
	for i, want := range wanted {
		hidden := strings.HasPrefix(elements[i], ".") && !strings.HasPrefix(want, ".")
		if ok, err := path.Match(want, elements[i]); err != nil || !ok || hidden {
			return false
		}
	}
	return true
}

// Matches says which of the patterns is the first that names a file; -1: none does.
func Matches(patterns []string, name string) int {
	for i, pattern := range patterns {
		if matches(pattern, name) {
			return i
		}
	}
	return -1
}

// wantedIn says what in a directory can be something that a pattern names, or lead to that: anything, or what has
// certain names; nothing, if there are none.
func wantedIn(patterns []string, dir string) (names []string, all bool) {
	var elements []string
	if dir != "." {
		elements = strings.Split(dir, "/")
	}
	for _, pattern := range patterns {
		if pattern == "." {
			if dir == "." || !strings.HasPrefix(dir, ".") {
				return nil, true
			}
			continue
		}
		wanted := strings.Split(strings.TrimSuffix(pattern, "/"), "/")
		both := min(len(wanted), len(elements))
		switch above := strings.Join(wanted[:both], "/"); {
		case both > 0 && !matches(above, strings.Join(elements[:both], "/")):
		case both == len(wanted) || !literal(wanted[both]):
			return nil, true
		case !slices.Contains(names, wanted[both]):
			names = append(names, wanted[both])
		}
	}
	return names, false
}

// literal says whether a pattern names one file or directory, and not as many as there may be.
func literal(pattern string) bool {
	return pattern != "." && !strings.ContainsAny(pattern, patternMarks)
}

// patternMarks are what makes a name a pattern.
const patternMarks = `*?[\`
