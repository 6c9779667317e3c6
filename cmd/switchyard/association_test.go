package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAssociationsTravel: a job runs at the site that maps its account, partition and QOS as that maps them. What a
// site refuses it refuses by name, what it does not use it says, and a reload changes all that.
func TestAssociationsTravel(t *testing.T) {
	t.Parallel()
	const table = "cpus = 4\nkill_grace = \"1s\"\non_stop = \"end\"\ncgroup = \"none\"\n"
	const closed = "[[association]]\norigin = \"aurora\"\naccount = \"chem\"\nrefuse = \"chemists are charged at home\"\n"
	g := startPatientGrid(t,
		testbed.Machine{Name: "aurora", LocalSched: table},
		testbed.Machine{Name: "borealis", LocalSched: table + "\n[[association]]\norigin = \"aurora\"\naccount = \"phys-*\"\n" +
			"as_account = \"grid-phys\"\nas_partition = \"long\"\nas_qos = \"low\"\n" + closed},
	)
	here, there := g.Sites[0], g.Sites[1]
	const prints = "echo \"$SWITCHYARD_EXEC_SITE ${SLURM_JOB_ACCOUNT-none} ${SLURM_JOB_PARTITION-none} ${SLURM_JOB_QOS-none}\"\n"
	const script = "#!/bin/sh\n#SBATCH -A phys-7 --partition=gpu -q urgent\n" + prints

	// As mapped, wherever the job may run: aurora has no QOS of that name.
	mapped := g.submit(t, here, script)
	job := g.until(t, here, mapped, ended)
	if got := g.output(t, job); got != "borealis grid-phys long low\n" {
		t.Errorf("the mapped job prints %q", got)
	}
	if want := (protocol.Association{Account: "phys-7", Partition: "gpu", QOS: "urgent"}); job.Association != want {
		t.Errorf("the job shows %+v, want %+v", job.Association, want)
	}
	const asked = `account "phys-7", partition "gpu" and QOS "urgent"`
	wantWords(t, g.at(t, here, "", "status", mapped.String()), 0, asked)
	wantWords(t, g.at(t, here, "", "queue", "--recent=5", "--format=%A %a %P %q"), 0, fmt.Sprintf("%v phys-7 gpu urgent", mapped))
	var listed view.Queue
	if err := json.Unmarshal([]byte(g.at(t, here, "", "queue", "--recent=5", "--json").stdout), &listed); err != nil || len(listed.Jobs) != 1 || listed.Jobs[0].QOS != "urgent" {
		t.Errorf("queue --json: %+v, %v", listed, err)
	}
	wantWords(t, g.at(t, here, "", "explain", mapped.String()), 0,
		`aurora`, `QOS "urgent" of user`, "this site has none of that name")

	// A site that maps nothing has no use for an account, and says so; it has no QOS.
	got := g.at(t, here, "#!/bin/sh\n"+prints, "submit", "--sites=aurora", "-A", "chem", "-p", "gpu")
	wantWords(t, got, 0, `aurora: account "chem" and partition "gpu" are not used at this site`)
	got = g.at(t, here, script, "submit", "--sites=aurora")
	wantWords(t, got, exitNoSite, `  aurora: QOS "urgent" of user`, "has none of that name", "  borealis: not among the sites")
	home := g.submit(t, here, script, "--sites=aurora", "--qos=")
	if got := g.output(t, g.until(t, here, home, ended)); got != "aurora none none none\n" {
		t.Errorf("the job at home prints %q", got)
	}

	// What no site maps is refused at once, with the reason of each.
	for _, options := range [][]string{{"-A", "chem"}, {"-A", "chem", "--test-only"}} {
		got = g.at(t, here, script, append([]string{"submit"}, options...)...)
		wantWords(t, got, exitNoSite, "no site can run this job", `  aurora: QOS "urgent" of user`, "this site has none of that name",
			`  borealis: account "chem", partition "gpu" and QOS "urgent" of user`, "refused: chemists are charged at home")
	}
	got = g.at(t, here, script, "submit", "-A", "bio", "--sites=borealis", "--qos=", "--partition=")
	wantWords(t, got, exitNoSite, `  borealis: account "bio" of user`, "not mapped by any [[association]] of this site")

	// The rules of borealis change while it runs.
	edit(t, there, closed, "[[association]]\norigin = \"aurora\"\naccount = \"chem\"\npartition = \"*\"\nignore = [\"qos\"]\n")
	wantWords(t, g.at(t, there, "", "reload"), 0, `association[2].refuse`, "Active")
	limit := patience(t)
	for { // until aurora has heard of it
		if got = g.at(t, here, script, "submit", "-A", "chem", "--sites=borealis", "--parsable"); got.code != exitNoSite || limit.Err() != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	wantWords(t, got, 0, `borealis: QOS "urgent" is not used at this site`)
	late, err := protocol.ParseJobID(strings.TrimSpace(got.stdout))
	if err != nil {
		t.Fatal(err)
	}
	if got := g.output(t, g.until(t, here, late, ended)); got != "borealis chem gpu none\n" {
		t.Errorf("after the reload the job prints %q", got)
	}
	wantWords(t, g.at(t, here, "", "explain", late.String()), 0, `QOS "urgent" is not used at this site`)
}
