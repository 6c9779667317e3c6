package peer_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/peertest"
)

var rewrite = flag.Bool("rewrite", false, "write what the transcripts in testdata say now")

// TestTranscripts replays the commands of every transcript and compares all that
// they do, in words. Read the difference before -rewrite.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := peertest.Replay(string(want))
			for line := range strings.Lines(got) {
				if strings.HasPrefix(line, "BROKEN") || strings.HasPrefix(line, "error:") {
					t.Error(line)
				}
			}
			if *rewrite {
				if err = os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s: run with -rewrite and read the difference\n%s", file, firstDifference(string(want), got))
			}
		})
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want: " + w[i] + "\ngot:  " + g[i]
		}
	}
	return "one is longer"
}

// TestScriptErrors: a transcript with words that mean nothing is an error, not another command.
func TestScriptErrors(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"recover a resumed":    "recover a resumed: give the site, and requeue, cancel, resume or nothing",
		"recover a cancel now": "recover a cancel now: give the site, and requeue, cancel, resume or nothing",
		"cancel a":             "which job?",
		"requeue a a1 a2":      "which job?",
		"requeue x a1":         `there is no site "x"`,
		"cancel a 1":           `"1" names no job; a1 is the first of site a`,
	} {
		var s peertest.Script
		s.Do("sites a=4 b=4")
		if out := s.Do(command); len(out) != 1 || out[0] != "error: "+want {
			t.Errorf("%s: %q, want %q", command, out, want)
		}
	}
}
