package admission_test

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestFilesThatAreTooLarge: a job whose files are more than the site lets travel is refused with the largest of
// them, unless it stays.
func TestFilesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	d := desk(partner("b", 16))
	d.Accounts, d.MaxStaging = users{}, 10_000_000
	for name, tt := range map[string]struct {
		size  int64
		most  int64
		sites []protocol.SiteName
		why   string
	}{
		"small":            {10_000_000, d.MaxStaging, nil, ""},
		"large":            {10_000_001, d.MaxStaging, nil, "the files of --stage-in have 11 MB, and at most 10 MB go with a job of this site ([staging] max_bytes), the largest, big.dat, 9000000 bytes; keep the job at this site with --sites=a"},
		"large, but stays": {10_000_001, d.MaxStaging, []protocol.SiteName{"a"}, ""},
		"none travel":      {1, 0, nil, "no files travel with jobs of this site"},
	} {
		d.MaxStaging = tt.most
		one := job(4)
		one.Spec.Sites = tt.sites
		one.Payload.Staging = &protocol.Staging{Bytes: tt.size, SHA256: [32]byte{1}, Inputs: []protocol.StagedFile{{Name: "a.dat", Size: 1}, {Name: "big.dat", Size: min(tt.size, 9_000_000)}}}
		refusal, refused := d.RefuseSubmission("ada", nil, []protocol.Job{one}, 0, 0)
		if refused != (tt.why != "") || refused && (refusal.Code != view.BadRequest || !strings.HasPrefix(refusal.Reason, tt.why)) {
			t.Errorf("%s: %v, %+v", name, refused, refusal)
		}
	}
}

// TestSharedFilesMayBeLarge: what does not travel may have any size; a partner that does not share it is still one too many.
func TestSharedFilesMayBeLarge(t *testing.T) {
	t.Parallel()
	d := desk(partner("b", 16), partner("c", 16))
	d.Accounts, d.MaxStaging = users{}, 10
	d.Partners[0].Shared, d.Partners[0].SharedThere = []string{"/home"}, []string{"/home"}
	one := job(4)
	one.Payload.WorkDir, one.Payload.Stdout, one.Payload.Stderr = "/home/ada", "/home/ada/out", "/home/ada/out"
	one.Payload.Staging = &protocol.Staging{Bytes: 11, SHA256: [32]byte{1}, Inputs: []protocol.StagedFile{{Name: "a.dat", Size: 1}}}
	for _, tt := range []struct {
		sites   []protocol.SiteName
		refused bool
	}{{nil, true}, {[]protocol.SiteName{"a", "b"}, false}, {[]protocol.SiteName{"b", "c"}, true}} {
		one.Spec.Sites = tt.sites
		if refusal, refused := d.RefuseSubmission("ada", nil, []protocol.Job{one}, 0, 0); refused != tt.refused {
			t.Errorf("%q: %v, %+v", tt.sites, refused, refusal)
		}
	}
}
