package process

import (
	"slices"
	"testing"
)

// TestCommandsAreLastInPath, once, and nothing else of the environment changes.
func TestCommandsAreLastInPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, dir, want string }{
		{"PATH=/bin", "/c", "PATH=/bin:/c"},
		{"PATH=/bin", "", "PATH=/bin"},
		{"PATH=/bin:/c", "/c", "PATH=/bin:/c"},
		{"PATH=/c:/bin", "/c", "PATH=/c:/bin"},
		{"PATH=/c/d", "/c", "PATH=/c/d:/c"},
		{"PATH=/bin:", "/c", "PATH=/bin::/c"}, // the current directory stays in it
		{"", "/c", "PATH=" + defaultPath + ":/c"},
		{"", "", "PATH=" + defaultPath},
	} {
		env := []string{"XPATH=/x", c.path, "A=1"}
		if c.path == "" {
			env = []string{"XPATH=/x", "A=1"}
		}
		got := withCommands(env, c.dir)
		if !slices.Contains(got, c.want) || !slices.Contains(got, "XPATH=/x") || !slices.Contains(got, "A=1") || len(got) != 3 {
			t.Errorf("%q and %q: %q, want %q", c.path, c.dir, got, c.want)
		}
	}
}
