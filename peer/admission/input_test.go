package admission_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestInputIsOfTheOrigin: a job whose standard input is a file can run where that is, and nowhere else.
func TestInputIsOfTheOrigin(t *testing.T) {
	t.Parallel()
	d := desk(partner("b", 16))
	d.Accounts = users{}
	for name, tt := range map[string]struct {
		cpus  int
		sites []protocol.SiteName
		want  view.RefusalCode
		why   string
	}{
		"anywhere":             {4, nil, "", ""},
		"here or there":        {4, []protocol.SiteName{"b", "a"}, "", ""},
		"there":                {4, []protocol.SiteName{"b"}, view.BadRequest, "the job's standard input is a file of a, which is not among the sites"},
		"too large for here":   {16, nil, view.NoSite, "no site can run this job; its standard input is a file of a, so that it can run only there"},
		"too large for either": {32, nil, view.NoSite, "no site can run this job; its standard input"},
	} {
		one := job(tt.cpus)
		one.Spec.Sites = tt.sites
		one.Payload.Input = "/home/ada/in.%j"
		refusal, refused := d.RefuseSubmission("ada", nil, []protocol.Job{one}, 0, 0)
		if refused != (tt.want != "") || refusal.Code != tt.want || !strings.HasPrefix(refusal.Reason, tt.why) {
			t.Errorf("%s: %v, %+v", name, refused, refusal)
		}
		spec := d.Spec(&one, "ada", 7, noon)
		if !spec.Allows("a") || spec.Allows("b") {
			t.Errorf("%s: it may run at %q", name, spec.Sites)
		}
		if _, payload := d.Job(&one, spec, 0); payload.Input != "/home/ada/in.7" {
			t.Errorf("%s: it reads %s", name, payload.Input)
		}
	}
}
