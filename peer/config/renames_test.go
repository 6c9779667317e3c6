package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/application"
	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/internal/experiment"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

// TestEveryOldNameIsReportedWithTheNewOne: by one at least of those that read a peer's
// configuration, an experiment or an application's file; and the new name is a key of that.
func TestEveryOldNameIsReportedWithTheNewOne(t *testing.T) {
	t.Parallel()
	for _, one := range settings.Renames() {
		accepted := false
		for _, read := range []func(t *testing.T, text string) string{readPeer, readExperiment, readApplication} {
			got := read(t, toml(one.Old, false))
			if !strings.Contains(got, one.Text()) {
				continue
			}
			name := strings.Trim(one.New, "[]")
			after := read(t, toml(name, strings.HasPrefix(one.New, "[[")))
			accepted = accepted || !strings.Contains(after, "unknown key") && !strings.Contains(after, "is now")
		}
		if !accepted {
			t.Errorf("nothing that is read has had %s and has %s instead", one.Old, one.New)
		}
	}
}

// TestOldNamesOfOtherFilesAreNotReported: a key that experiments had in [[site]] is unknown
// in [site] of a peer, which never had it.
func TestOldNamesOfOtherFilesAreNotReported(t *testing.T) {
	t.Parallel()
	if got := readPeer(t, "[site]\nmhz = 5\n"); !strings.Contains(got, "site.mhz: unknown key; it belongs to [localsched]") {
		t.Error(got)
	}
	if got := readExperiment(t, "[[site]]\nmhz = 5\n"); !strings.Contains(got, "site[1].mhz: is now mhz in [site.localsched]") {
		t.Error(got)
	}
}

// toml sets a dotted key.
func toml(key string, array bool) string {
	table, name := "", key
	if i := strings.LastIndex(key, "."); i >= 0 {
		table, name = key[:i], key[i+1:]
	}
	switch {
	case array:
		return "[[" + key + "]]\n"
	case table == "component" || table == "site" || table == "application" || table == "workload":
		return "[[" + table + "]]\n" + name + " = 1\n"
	case strings.HasPrefix(key, "component."), strings.HasPrefix(key, "site."):
		first, _, _ := strings.Cut(key, ".")
		return "[[" + first + "]]\n[" + table + "]\n" + name + " = 1\n"
	case table == "":
		return name + " = 1\n"
	}
	return "[" + table + "]\n" + name + " = 1\n"
}

// written is the path of a file with the text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readPeer(t *testing.T, text string) string {
	t.Helper()
	_, err := config.Load(written(t, text))
	return err.Error()
}

func readExperiment(t *testing.T, text string) string {
	t.Helper()
	_, err := experiment.Read(written(t, text))
	return err.Error()
}

func readApplication(t *testing.T, text string) string {
	t.Helper()
	text = strings.Replace(text, "[[application]]", "[application]", 1)
	_, _, err := application.Read(application.Source{
		Name: "app.toml", Text: text, Script: func(string) (batchscript.Script, error) { return batchscript.Script{}, nil },
	}, nil, batchscript.Origin{})
	return err.Error()
}
