package batchscript_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestArray: arrays from the command line, directives and the environment, and the names of their files.
func TestArray(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines    []string
		settings []batchscript.Setting
		env      []string
		array    string
		stdout   string
	}{
		"none":         {stdout: "/home/ada/switchyard-%j.out"},
		"directive":    {lines: []string{"#SBATCH -a 0-98:2%5"}, array: "0-98:2%5", stdout: "/home/ada/switchyard-%A_%a.out"},
		"command line": {lines: []string{"#SBATCH -a 1"}, settings: []batchscript.Setting{{Long: "array", Value: "2-3"}}, array: "2-3", stdout: "/home/ada/switchyard-%A_%a.out"},
		"environment":  {env: []string{"SBATCH_ARRAY_INX=7"}, array: "7", stdout: "/home/ada/switchyard-%A_%a.out"},
		"file names":   {lines: []string{"#SBATCH --array=1,5 -o o/%x-%3A-%4a-%%a.log -J n"}, array: "1,5", stdout: "/home/ada/o/n-%A-%4a-%%a.log"},
		"of a job":     {lines: []string{"#SBATCH -o %A-%4a"}, stdout: "/home/ada/%A-4294967294"},
	} {
		from := batchscript.Origin{User: "ada", Host: "h", Dir: "/home/ada", Env: tt.env}
		batch, _, err := batchscript.Read(script(tt.lines...), tt.settings, from)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		job, array := batch.Jobs[0], ""
		if job.Array != nil {
			array = job.Array.String()
		}
		if array != tt.array || job.Payload.Stdout != tt.stdout {
			t.Errorf("%s: array %q, output %s, want %q, %s", name, array, job.Payload.Stdout, tt.array, tt.stdout)
		}
	}
}

// TestArrayMails: there are mails about an array, and none about its elements.
func TestArrayMails(t *testing.T) {
	t.Parallel()
	for lines, said := range map[string]bool{"#SBATCH -a 1-2 --mail-type=END,ARRAY_TASKS": true, "#SBATCH --mail-type=END,ARRAY_TASKS": false} {
		batch, notices, err := batchscript.Read(script(lines), nil, batchscript.Origin{User: "ada", Dir: "/home/ada"})
		if err != nil {
			t.Fatal(err)
		}
		notice := slices.Contains(notices, "job.sh:2: --mail-type: no mail is sent about ARRAY_TASKS")
		if !slices.Equal(batch.Jobs[0].Mail.Events, []protocol.MailEvent{protocol.MailEnd}) || notice != said {
			t.Errorf("%s: %v, %q", lines, batch.Jobs[0].Mail, notices)
		}
	}
}
