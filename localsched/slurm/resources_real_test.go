package slurm_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/localsched"
	"github.com/switchyard-hpc/switchyard/localsched/slurm"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestResourcesOfSlurm: a job has the GPUs, the node or the licenses that it asks for, and what Slurm
// refuses reaches the user in its words.
func TestResourcesOfSlurm(t *testing.T) {
	t.Parallel()
	siteG.Lock()
	defer siteG.Unlock()
	s := openSite(t, "siteG", nil)
	described, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	has := described.Capacity
	if len(has.Groups) != 1 || protocol.CountOf(has.Groups[0].Resources, protocol.Resource{Name: "gpu"}) != 2 || !has.Groups[0].Has("fast") ||
		protocol.CountOf(has.Shared, protocol.Resource{Name: "license", Type: "fluent"}) != 3 {
		t.Errorf("the site states %+v", has)
	}
	one := protocol.Request{CPUs: 1}
	whole := one
	whole.Exclusive = true
	constrained := asks(one, "node gpu:1")
	constrained.Features = "fast&big"
	for _, c := range []struct {
		request protocol.Request
		want    string
	}{
		{asks(one, "node gpu:a100:2"), "GPUs 0,1 of 2 CPUs 1"},
		{asks(one, "job gpu:2", "job license:fluent:2"), "GPUs 0,1 of 2 CPUs 1"},
		{asks(one, "task gpu:2"), "GPUs 0,1 of 2 CPUs 1"},
		{constrained, "of 1 CPUs 1"},
		{whole, "CPUs 8"},
	} {
		job := guest(`echo "GPUs $CUDA_VISIBLE_DEVICES of $SLURM_GPUS_ON_NODE CPUs $SLURM_CPUS_ON_NODE"`)
		c.request.Job, c.request.WallTime = job.Spec.Job, job.Spec.WallTime
		job.Spec.Request = c.request
		if outcome := s.awaitEnd(t, s.submit(t, job)); outcome.State != protocol.Completed {
			t.Errorf("%+v: %+v", c.request, outcome)
		} else if got := s.read(t, job.Tag, protocol.Stdout); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.request, got, c.want)
		}
	}
	refused := guest("true")
	refused.Spec.Request = asks(refused.Spec.Request, "node gpu:3")
	if quote := s.quote(t, localsched.Query{Jobs: []protocol.Request{refused.Spec.Request}})[0]; !strings.Contains(quote.Declined, "needs 3 gpu, a node has 2") {
		t.Errorf("%+v", quote)
	}
}

// TestRefusalsOfResources: Slurm's words for what it does not have.
func TestRefusalsOfResources(t *testing.T) {
	t.Parallel()
	for option, words := range map[string]string{
		"--constraint=none": "Invalid feature specification", "--gres=gpu:3": "Requested node configuration is not available",
		"--gres=tpu:1": "Invalid generic resource (gres) specification", "--licenses=none:1": "Invalid license specification",
	} {
		s := openSite(t, "siteG", func(c *slurm.Config) { c.Extra = []string{option} })
		quote := s.quote(t, localsched.Query{Jobs: []protocol.Request{{Job: 1, CPUs: 1, WallTime: protocol.Minute}}})[0]
		if !strings.Contains(quote.Declined, words) {
			t.Errorf("%s: %+v", option, quote)
		}
	}
}
