package plugins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeers: in real peers jobs go to the cheaper site, and their stories say that the
// plugin sent them there.
func TestPeers(t *testing.T) {
	t.Parallel()
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		theCheaperSiteRunsIt(t, goPolicy())
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		theCheaperSiteRunsIt(t, pythonPolicy(t))
	})
	t.Run("go, over a batch system", func(t *testing.T) {
		t.Parallel()
		theCheaperSiteRunsIt(t, goPolicy(), goScheduler())
	})
}

func theCheaperSiteRunsIt(t *testing.T, plugins ...example) {
	t.Helper()
	g := startGrid(t, plugins)
	const script = "#!/bin/sh\n#SBATCH --output=%x.out\necho $SWITCHYARD_EXEC_SITE\n"
	id := strings.TrimSpace(g.must(t, script, "submit", "--wait", "--parsable", "-J", "where", "-n", "2", "-t", "60"))
	ran, err := os.ReadFile(filepath.Join(g.work, "where.out"))
	if err != nil || string(ran) != "cheap\n" {
		t.Errorf("the job ran at %q, %v", ran, err)
	}
	const why = "cheapest of those that start it within 1h0m0s (2 of 2 sites): 0.08 EUR"
	if story := g.must(t, "", "explain", id); !strings.Contains(strings.Join(strings.Fields(story), " "), why) {
		t.Errorf("the story does not say %q:\n%s", why, story)
	}
	g.must(t, "#!/bin/sh\ntest $SWITCHYARD_EXEC_SITE = costly\n", "submit", "--wait", "--parsable", "--sites=costly")
}
