package slurm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestParseResources(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"(null)": "[]", "": "[]",
		"gpu:a100:4(S:0-1)":                  "[gpu:a100:4]",
		"gpu:4":                              "[gpu:4]",
		"gpu:a100":                           "[gpu:a100:1]",
		"gpu":                                "[gpu:1]",
		"nic:1,gpu:v100:2(S:0,2),gpu:a100:2": "[gpu:a100:2 gpu:v100:2 nic:1]",
		"gpu:a100:2(S:0),gpu:a100:2(S:1)":    "[gpu:a100:4]",
		"bandwidth:lustre:no_consume:4K":     "[bandwidth:lustre:4096]",
		"bandwidth:4G":                       fmt.Sprintf("[bandwidth:%d]", 1<<31-1),
		"gpu:0,two words:3":                  "[]", // which no job can ask for
		"gpu:a100:2,gpu:9999999999":          fmt.Sprintf("[gpu:%d gpu:a100:2]", 1<<31-1),
	} {
		if got, err := slurm.ParseResources(text); err != nil || got != want {
			t.Errorf("%q is read as %s, %v; want %s", text, got, err, want)
		}
	}
	for _, bad := range []string{"gpu:1x", "gpu:a100:1KK"} {
		if got, err := slurm.ParseResources(bad); err == nil {
			t.Errorf("%q is read as %s", bad, got)
		}
	}
}

func TestParseLicenses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"No licenses configured in Slurm.\n": "[]",
		"LicenseName=b@c Total=3 Used=0 Free=3 Reserved=0 Remote=yes\nLicenseName=a Total=2 Used=2 Free=0 Remote=no\n": "[license:a:2 license:b@c:3]",
	} {
		if got, err := slurm.ParseLicenses(text); err != nil || got != want {
			t.Errorf("%q is read as %s, %v; want %s", text, got, err, want)
		}
	}
	if got, err := slurm.ParseLicenses("LicenseName=a Total=many"); err == nil {
		t.Error(got)
	}
}

// TestAskedInQueue: both versions of Slurm's words for one job are read alike.
func TestAskedInQueue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ node, job, task, want string }{
		{"N/A", "N/A", "N/A", "[]"},
		{"gres:gpu:v100:3,gres:nic:1", "N/A", "N/A", "[gpu:v100:3/node nic:1/node]"},
		{"gres/gpu:v100=3", "", "", "[gpu:v100:3/node]"},
		{"N/A", "gres:gpu:2", "N/A", "[gpu:2/job]"},
		{"N/A", "N/A", "cpu=2,gres/gpu=1", "[gpu:4/job]"}, // of 4 tasks
		{"gres:gpu:3x", "gres:gpu:1", "N/A", "[gpu:1/job]"},
	} {
		var got []string
		for _, one := range slurm.AskedInQueue(c.node, c.job, c.task, 4) {
			got = append(got, fmt.Sprintf("%v/%v", one, one.Per))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v is read as %v", c, got)
		}
	}
}

// asks has a job ask for resources, in the words of --gres after what they are counted by.
func asks(r protocol.Request, words ...string) protocol.Request {
	for _, word := range words {
		per, text, _ := strings.Cut(word, " ")
		var one protocol.Resource
		if err := one.Per.UnmarshalText([]byte(per)); err != nil {
			panic(err)
		}
		parts := strings.Split(text, ":")
		one.Name = parts[0]
		if len(parts) > 2 {
			one.Type = parts[1]
		}
		fmt.Sscan(parts[len(parts)-1], &one.Count)
		r.Resources = append(r.Resources, one)
	}
	return r
}

// TestExtras: the request is passed in the words of sbatch, or refused.
func TestExtras(t *testing.T) {
	t.Parallel()
	one := protocol.Request{CPUs: 1}
	with := func(features string, exclusive bool) protocol.Request {
		return protocol.Request{CPUs: 1, Features: features, Exclusive: exclusive}
	}
	for _, c := range []struct {
		request protocol.Request
		want    string
	}{
		{one, ""},
		{asks(one, "node gpu:1"), "--gres=gpu:1"},
		{asks(one, "node gpu:a100:2", "node nic:1"), "--gres=gpu:a100:2,nic:1"},
		{asks(protocol.Request{CPUs: 1, Layout: protocol.Layout{GPUsPerNode: true}}, "node gpu:a100:2", "node nic:1"), "--gres=nic:1 --gpus-per-node=a100:2"},
		{asks(one, "job gpu:2"), "--gpus=2"},
		{asks(one, "job gpu:a100:2", "job gpu:v100:1"), "--gpus=a100:2,v100:1"},
		{asks(protocol.Request{CPUs: 3}, "task gpu:a100:2"), "--gpus-per-task=a100:2"},
		{asks(one, "task gpu:1"), "--gpus-per-task=1 --ntasks=1"},
		{asks(one, "job license:fluent:2", "node gpu:1"), "--gres=gpu:1 --licenses=fluent:2"},
		{with("fast&(big|small)", true), "--constraint=fast&(big|small) --exclusive"},
	} {
		got, reason := slurm.Extras(c.request)
		if strings.Join(got, " ") != c.want || reason != "" {
			t.Errorf("%+v: %q %q, want %q", c.request, got, reason, c.want)
		}
	}
	for _, r := range []protocol.Request{asks(one, "task nic:1"), asks(one, "job nic:1"), asks(one, "job license:2")} {
		if _, reason := slurm.Extras(r); !strings.Contains(reason, r.Resources[0].Name) {
			t.Errorf("%+v: %q", r, reason)
		}
	}
}

// TestUnfitForResources: a job goes to partitions whose nodes have what it asks for, or says what
// none has.
func TestUnfitForResources(t *testing.T) {
	t.Parallel()
	hour := protocol.Request{CPUs: 1, WallTime: protocol.Hour}
	for _, c := range []struct {
		request        protocol.Request
		chosen, reason string
	}{
		{hour, "left", ""},
		{asks(hour, "node gpu:2"), "left", ""},
		{asks(hour, "node gpu:3"), "right", ""},
		{asks(hour, "node gpu:v100:1"), "right", ""},
		{asks(hour, "node gpu:9"), "", "partition left: needs 9 gpu"},
		{asks(hour, "node tpu:1"), "", "needs 1 tpu, the site has none"},
		{asks(hour, "job license:fluent:1"), "", "needs 1 license:fluent"},
		{protocol.Request{CPUs: 1, WallTime: protocol.Hour, Features: "big"}, "left", ""},
		{protocol.Request{CPUs: 1, WallTime: protocol.Hour, Features: "slow|huge"}, "", "slow|huge"},
		{protocol.Request{CPUs: 1, WallTime: protocol.Hour, Exclusive: true}, "left", ""},
	} {
		parts := strings.Split(partitionsOfTwo, "\n")
		chosen, reason, err := slurm.Choose(parts[3]+"\n"+parts[4], twoNodes("idle", "idle", 0, 0), []string{"left", "right"}, c.request)
		if err != nil || chosen != c.chosen || !strings.Contains(reason, c.reason) || (reason == "") != (c.reason == "") {
			t.Errorf("%+v: %q %q %v", c.request, chosen, reason, err)
		}
	}
}

// TestOutlookOfResources: a job starts when what it asks for is free, whatever CPUs are, and after
// those that wait for the same.
func TestOutlookOfResources(t *testing.T) {
	t.Parallel()
	hour := protocol.Request{CPUs: 1, WallTime: protocol.Hour}
	constrained := func(features string, exclusive bool) protocol.Request {
		r := hour
		r.Features, r.Exclusive = features, exclusive
		return r
	}
	both := asks(hour, "node gpu:2")
	both.Nodes, both.CPUs = 2, 2
	first := line{id: 1, cpus: 1, nodes: 1, partition: "batch", on: "a1", minutes: 30, gres: "gres:gpu:a100:2"}
	second := line{id: 2, cpus: 1, nodes: 1, partition: "batch", on: "a2", minutes: 50, gres: "gres:gpu:3"}
	waits := line{id: 3, cpus: 1, partition: "batch", minutes: 60, priority: 5, gres: "gres:gpu:a100:1"}
	for _, c := range []struct {
		what    string
		queue   []line
		request protocol.Request
		minute  int
	}{
		{"the machine is idle", nil, asks(hour, "node gpu:4"), 0},
		{"one is free", []line{first, second}, asks(hour, "node gpu:1"), 0},
		{"two of a node", []line{first, second}, asks(hour, "node gpu:2"), 30},
		{"of a type", []line{first, second}, asks(hour, "node gpu:v100:2"), 50},
		{"after one that waits", []line{first, second, waits}, asks(hour, "node gpu:a100:2"), 90},
		{"beside one that waits", []line{first, second, waits}, asks(hour, "node gpu:a100:1"), 30},
		{"on both nodes", []line{first, second}, both, 50},
		{"five for the job are of both nodes", []line{first, second}, asks(hour, "job gpu:5"), 50},
		{"for a task", []line{first, second}, asks(hour, "task gpu:2"), 30},
		{"none asked for", []line{first, second}, hour, 0},
		{"another kind", []line{first, second}, asks(hour, "node nic:1"), 0},
		{"a feature", []line{{id: 1, cpus: 8, nodes: 1, partition: "batch", on: "a1", minutes: 30}}, constrained("big", false), 30},
		{"a feature of both", []line{{id: 1, cpus: 8, nodes: 1, partition: "batch", on: "a1", minutes: 30}}, constrained("big|fast", false), 0},
		{"a node for itself", []line{first, second}, constrained("", true), 30},
	} {
		var queue strings.Builder
		for _, l := range c.queue {
			queue.WriteString(l.String())
		}
		look, err := slurm.NewLook(lookAt, []string{"batch"}, slurm.Texts{
			Queue: queue.String(), Nodes: twoNodes("mixed", "mixed", 1, 1), Partitions: partitionsOfTwo,
		})
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		at, _, declined := look.Start(c.request)
		if got := at.Sub(lookAt) / protocol.Minute; declined != "" || int(got) != c.minute {
			t.Errorf("%s: starts after %d minutes, want %d %s", c.what, got, c.minute, declined)
		}
	}
	look, err := slurm.NewLook(lookAt, []string{"batch"}, slurm.Texts{Nodes: twoNodes("idle", "down", 0, 0), Partitions: partitionsOfTwo})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, declined := look.Start(asks(hour, "node gpu:v100:1")); !strings.Contains(declined, "down or drained") {
		t.Errorf("declined because of %q", declined)
	}
}

// TestGroups: nodes that are alike are one group, and of too many groups the first are stated.
func TestGroups(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "n%d|batch|0/8/0/8|8000|1|idle|f%d|(null)\n", i, i%(2*protocol.MaxGroups))
	}
	look, err := slurm.NewLook(lookAt, []string{"batch"}, slurm.Texts{Nodes: text.String(), Partitions: partitionsOfTwo})
	if err != nil {
		t.Fatal(err)
	}
	has := look.Capacity()
	if err := has.CheckGroups(); err != nil || len(has.Groups) != protocol.MaxGroups || has.Groups[0].Nodes != 2 {
		t.Errorf("%d groups, the first %+v: %v", len(has.Groups), slices.Collect(slices.Values(has.Groups[:1])), err)
	}
}
