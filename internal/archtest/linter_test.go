package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/archtest"
)

// TestLinterKnowsPureRooms: the rule of the linter that forbids clocks and printing is for the
// pure rooms, and for all of them.
func TestLinterKnowsPureRooms(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`path-except: (\S+)\s+linters:\s+- forbidigo`).FindSubmatch(config)
	if found == nil {
		t.Fatal(".golangci.yml has no path-except of forbidigo")
	}
	pure, err := regexp.Compile(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range archtest.Switchyard().Rooms {
		file := strings.NewReplacer("/...", "/any", "*", "any").Replace(room.Path) + "/any.go"
		if pure.MatchString(file) != room.Pure {
			t.Errorf("%s is pure: %v; the path-except of forbidigo in .golangci.yml says %v", room.Path, room.Pure, !room.Pure)
		}
	}
}
