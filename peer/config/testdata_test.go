package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/peer/config"
)

var update = flag.Bool("update", false, "write down what the code says now; read the difference before you commit it")

// Each testdata/*.bad.toml ends with the problems that it must be refused for,
// and each *.warn.toml with its warnings: lines that begin with "#! ".
func TestProblemsAndWarnings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := said(t, file)
			input, want, _ := strings.Cut(string(text), "\n#! ")
			want = strings.TrimPrefix("\n#! "+want, "\n")
			if *update {
				writeFile(t, file, input+"\n"+got)
				return
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// said is what Load says of a file, in lines that begin with "#! ".
func said(t *testing.T, file string) string {
	t.Helper()
	c, err := config.Load(file)
	var all problems.List
	if strings.HasSuffix(file, ".warn.toml") {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		all = c.Warnings
	} else {
		if !errors.As(err, &all) {
			t.Fatalf("got %v, want problems", err)
		}
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range all {
		line := strings.ReplaceAll(p.String(), dir, "/etc/switchyard")
		b.WriteString("#! " + strings.ReplaceAll(line, filepath.Dir(file)+string(filepath.Separator), "") + "\n")
	}
	return b.String()
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
