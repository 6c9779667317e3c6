package batchscript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/batchscript"
)

// TestSlurmCalls: what commands of Slurm in a script do not do as in a job of sbatch is said with its line, at
// once, for sites with Slurm or for other sites; what they do is not.
func TestSlurmCalls(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ here, slurm, elsewhere string }{
		"sbatch $0":                                          {elsewhere: "sbatch fails at another site, or, if that site has Slurm, submits to it"},
		`[ $n -gt 3 ] || N=2 sbatch -n 4 $0`:                 {elsewhere: "sbatch fails at another site"},
		`next=$(/usr/bin/sbatch --parsable x)`:               {elsewhere: "sbatch fails at another site"},
		`ssh login "sbatch next.sh"`:                         {elsewhere: "sbatch fails at another site"},
		"if sbatch next.sh; then true; fi":                   {elsewhere: "sbatch fails at another site"},
		"srun -n 1 hostname":                                 {},
		"# sbatch $0":                                        {},
		"true # then sbatch $0":                              {},
		`echo "sbatch failed"`:                               {},
		"cp my.sbatch sbatch.log":                            {},
		"squeue -j $SLURM_JOB_ID":                            {},
		"scancel $SLURM_JOB_ID":                              {},
		"scontrol show hostnames $SLURM_JOB_NODELIST >hosts": {},
		"scontrol update JobId=$SLURM_JOB_ID TimeLimit=5":    {},
		"sacct -n -j $SLURM_JOB_ID":                          {},
		"squeue -u $USER | wc -l":                            {elsewhere: "at another site with Slurm squeue shows all jobs of the account"},
		"scancel --user=$USER":                               {elsewhere: "at another site with Slurm scancel cancels all jobs of the account"},
		"squeue --me \\\n  -h":                               {elsewhere: "at another site with Slurm squeue shows"},
		"squeue -hn tides":                                   {slurm: "at a site with Slurm squeue does not find the job by its name"},
		"scancel --name=tides":                               {slurm: "at a site with Slurm scancel does not find the job by its name"},
		"trap 'scontrol requeue $SLURM_JOB_ID' USR1":         {slurm: "scontrol requeue fails"},
		"scontrol show job $SLURM_JOB_ID | grep TimeLimit":   {},
		"squeue -n $(cat name) -h":                           {slurm: "at a site with Slurm squeue does not find"},
		"squeue -u $(id -un) -h":                             {elsewhere: "at another site with Slurm squeue shows"},
		"StdOut=$(scontrol show job 1 | grep StdOut)":        {slurm: "at a site with Slurm scontrol shows"},
		"scontrol show -d job $SLURM_JOB_ID":                 {slurm: "at a site with Slurm scontrol shows the JobName"},
		"ls slurm-$SLURM_JOB_ID.out":                         {here: "the number in the names of output files is $SWITCHYARD_JOB_ID"},
		"mkdir /tmp/$SLURM_JOB_ID":                           {},
		"tail ${SLURM_JOBID}.log":                            {here: "the number in the names of output files"},
	} {
		job, notices := read(t, script("#SBATCH -o %x-%j.log", line))
		if !onlyAt(notices, "job.sh:3: ", want.here) || !onlyAt(job.UnderSlurm, "job.sh:3: ", want.slurm) ||
			!onlyAt(job.Elsewhere, "job.sh:3: ", want.elsewhere) {
			t.Errorf("%s: %q; under Slurm %q; elsewhere %q", line, notices, job.UnderSlurm, job.Elsewhere)
		}
	}
}

// onlyAt says whether there is one notice, of that place and with those words; none if there are no words.
func onlyAt(notices []string, place, words string) bool {
	if words == "" {
		return len(notices) == 0
	}
	return len(notices) == 1 && strings.HasPrefix(notices[0], place) && strings.Contains(notices[0], words)
}

// TestVariablesUsed: a variable of the submission that a shell script uses before it sets it.
func TestVariablesUsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"echo $A ${B:-x}":                  {"A job.sh:2", "B job.sh:2"},
		"A=1\necho $A\n\necho ${#B}":       {"B job.sh:5"},
		"export A=${A:-1}; for B in 1; do": {"A job.sh:2"},
		"read -r A B; echo $A":             nil,
		"# $A\necho $PATH $HOME $C $1":     nil,
		"awk '{ print $1 }' \\\n  $A":      {"A job.sh:2"},
	} {
		job, _ := read(t, script(text))
		var got []string
		for _, v := range job.Uses {
			got = append(got, v.Name+" "+v.Place.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	other := batchscript.Script{Name: "job.pl", Data: []byte("#!/usr/bin/env perl\nprint $A;\n")}
	if batch, _, err := batchscript.Read(other, nil, batchscript.Origin{User: "ada", Host: "h", Dir: "/w", Env: []string{"A=1"}}); err != nil || len(batch.Jobs[0].Uses) > 0 {
		t.Errorf("in Perl: %+v, %v", batch.Jobs, err)
	}
}
