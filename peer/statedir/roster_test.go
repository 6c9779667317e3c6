package statedir_test

import (
	"os"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/statedir"
)

func TestRostersAreNoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if serial, digest, err := statedir.ReadRoster(dir); serial != 0 || digest != "" || err != nil {
		t.Errorf("a new directory has roster %d %s, %v", serial, digest, err)
	}
	for _, serial := range []int64{3, 3, 9} {
		want := strings.Repeat("a", 64)
		err := statedir.NoteRoster(dir, serial, want)
		got, digest, failed := statedir.ReadRoster(dir)
		if err != nil || failed != nil || got != serial || digest != want {
			t.Errorf("noted %d, read %d %s: %v, %v", serial, got, digest, err, failed)
		}
	}
	if err := statedir.NoteRoster(dir, 8, strings.Repeat("a", 64)); err == nil {
		t.Error("an older roster was noted")
	}
	if serial, _, err := statedir.ReadRoster(dir); serial != 9 || err != nil {
		t.Errorf("after an older one it is %d, %v", serial, err)
	}
	for _, damaged := range []string{"", "x", "7", "7 abc\n"} {
		if err := os.WriteFile(statedir.Roster(dir), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := statedir.ReadRoster(dir); err == nil {
			t.Errorf("%q is a roster", damaged)
		}
		if err := statedir.NoteRoster(dir, 10, strings.Repeat("b", 64)); err == nil {
			t.Errorf("%q was replaced", damaged)
		}
	}
}
