package batchscript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
)

// settingsOf are those of a command line of --long=value.
func settingsOf(words string) (out []batchscript.Setting) {
	for word := range strings.FieldsSeq(words) {
		long, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		out = append(out, batchscript.Setting{Long: long, Value: value})
	}
	return out
}

// TestContradictionsOfOneSource: what one source of options says in two ways is refused with both names,
// as sbatch refuses --mem beside --mem-per-cpu.
func TestContradictionsOfOneSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ directives, settings, want string }{
		{"", "--cpus=4 --ntasks=1", "--ntasks: contradicts --cpus (command line); use one of the two"},
		{"", "--cpus=1,2 --ntasks=3", "--ntasks: contradicts --cpus (command line); use one of the two"},
		{"", "--ntasks=3 --cpus=2", "--ntasks: contradicts --cpus (command line); use one of the two"},
		{"", "--cpus=2 --nodes=1 --ntasks-per-node=1", "--ntasks-per-node: contradicts --cpus (command line); use one of the two"},
		{"", "--mem=100M --mem-per-cpu=300M", "--mem-per-cpu: contradicts --mem (command line); use one of the two"},
		{"", "--gpus-per-node=1 --mem-per-cpu=1G --mem-per-gpu=1G", "--mem-per-gpu: contradicts --mem-per-cpu (command line); use one of the two"},
		{"#SWITCHYARD --cpus=8 -c 4", "", "job.sh:2: --cpus-per-task: contradicts --cpus (job.sh:2); use one of the two"},
		{"#SBATCH --mem-per-cpu=1G --mem=5", "", "job.sh:2: --mem-per-cpu: contradicts --mem (job.sh:2); use one of the two"},
	} {
		_, _, err := batchscript.Read(script(c.directives), settingsOf(c.settings), origin())
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q %q: got %v, want %q", c.directives, c.settings, err, c.want)
		}
	}
}

// TestAStrongerSourceReplaces: between sources the stronger one counts whatever it names, with a notice of
// what it replaces, but for the tasks of a script whose #SWITCHYARD lines leave the size to the grid.
func TestAStrongerSourceReplaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		directives, settings string
		cpus                 int
		memoryMB             int64
		notice               string
	}{
		{"#SBATCH --cpus=2", "--ntasks=3", 3, 0, "command line: --ntasks replaces --cpus (job.sh:2)"},
		{"#SBATCH -n 3", "--cpus=2", 2, 0, "command line: --cpus replaces --ntasks (job.sh:2)"},
		{"#SBATCH -c 4\n#SWITCHYARD --cpus=8", "", 8, 0, "job.sh:3: --cpus replaces --cpus-per-task (job.sh:2)"},
		{"#SWITCHYARD --cpus=8\n#SBATCH -n 3", "", 8, 0, ""},
		{"#SBATCH --mem-per-cpu=300M -n 2", "--mem=100M", 2, 100, "command line: --mem replaces --mem-per-cpu (job.sh:2)"},
		{"#SBATCH --mem=100M -n 2", "--mem-per-cpu=300M", 2, 600, "command line: --mem-per-cpu replaces --mem (job.sh:2)"},
	} {
		batch, notices, err := batchscript.Read(script(strings.Split(c.directives, "\n")...), settingsOf(c.settings), origin())
		if err != nil {
			t.Fatalf("%q %q: %v", c.directives, c.settings, err)
		}
		var want []string
		if c.notice != "" {
			want = []string{c.notice}
		}
		spec := batch.Jobs[0].Spec
		if spec.CPUs != c.cpus || spec.MemoryMB != c.memoryMB || !slices.Equal(notices, want) {
			t.Errorf("%q %q: %d CPUs, %d MB, %q, want %+v", c.directives, c.settings, spec.CPUs, spec.MemoryMB, notices, c)
		}
	}
}
