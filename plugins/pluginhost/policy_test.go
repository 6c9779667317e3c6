package pluginhost_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testlog"

	"github.com/switchyard-hpc/switchyard/plugins/pluginhost"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// round is a snapshot of jobs and sites in which nothing is alike.
func round(jobs, sites int) policy.Snapshot {
	in := policy.Snapshot{Self: 0}
	for s := range sites {
		in.Sites = append(in.Sites, policy.Site{
			Name: protocol.SiteName("site-" + string(rune('a'+s/26)) + string(rune('a'+s%26))),
			RUS:  s * 7919 % protocol.PPM, CPUs: 512 + s, Free: s * 3 % 64, MaxJobs: jobs,
		})
	}
	for j := range jobs {
		in.Jobs = append(in.Jobs, policy.Job{
			ID: protocol.NewJobID(1, uint64(j+1)), CPUs: 1 + j*31%128, WallTime: protocol.Hour + protocol.Duration(j), Waited: protocol.Duration(j),
		})
		for s := range sites {
			awt, ert := protocol.Duration((j*131+s*977)%7_200_000), protocol.Duration(600_000+(j*37+s*11)%3_600_000)
			if (j+s)%17 == 16 {
				awt, ert = protocol.Never, protocol.Never
			}
			in.AWT, in.ERT, in.Cost = append(in.AWT, awt), append(in.ERT, ert), append(in.Cost, 0)
		}
	}
	return in
}

// A policy in another process decides as it does in this one.
func TestPolicyDecidesAlike(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "tc")
	spec.Config = "epsilon = \"45s\"\n"
	plugin := up(t, spec)
	remote, local := plugin.Policy(), tc.New(tc.Config{Epsilon: 45 * protocol.Second})
	if got, want := policy.Describe(remote), policy.Describe(local); !reflect.DeepEqual(got, want) {
		t.Errorf("Info: got %+v, want %+v", got, want)
	}
	for _, size := range [][2]int{{0, 1}, {1, 0}, {1, 3}, {200, 20}} {
		in := round(size[0], size[1])
		if size[1] == 0 {
			in.Self = policy.NoSite
		}
		want, _, err := local.Decide(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := remote.Decide(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %+v, want %+v", size, got, want)
		}
	}
	info := plugin.Info()
	if info.Name != "tc" || info.Version != "1.0.0" || info.About != "turnaround cost" || info.Kind != pluginhost.PolicyKind {
		t.Errorf("Info: %+v", info)
	}
}

// What the plugin gets about its host, and what it writes.
func TestHostAndLog(t *testing.T) {
	t.Parallel()
	book := new(testlog.Buffer)
	spec := specOf(t, "tc")
	spec.Config, spec.Host.StateDir = "epsilon = \"1h\"", t.TempDir()
	plugin, err := pluginhost.Open(spec, book.Logger())
	if err != nil {
		t.Fatal(err)
	}
	if err = plugin.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err = plugin.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"plugin=tc", "made for north seed 7 by catalog test in " + spec.Host.StateDir,
		"peer.toml:1: epsilon: is much", "plugin_unpinned", "plugin_up",
	} {
		if !strings.Contains(book.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, book)
		}
	}
}
