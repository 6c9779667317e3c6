package admission_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// TestAssociationsOfSites: a job whose account no site takes is refused with the reason of each; where one takes
// it, it is said which do not use its names. A partner that has not stated its rules may take it.
func TestAssociationsOfSites(t *testing.T) {
	t.Parallel()
	closed := association.Table{Rules: []association.Rule{{Origin: "*", Account: "chem", Refuse: "closed"}, {Origin: "*", Partition: "*", Account: "phys"}}}
	b, c := partner("b", 16), partner("c", 4)
	b.Mapping, c.Mapping = &closed, new(association.Table)
	d := desk(b, c)
	d.Mapping = closed
	asks := func(account, partition, qos string) []protocol.Job {
		one := job(4)
		one.Spec.User, one.Spec.Association = "ada", protocol.Association{Account: account, Partition: partition, QOS: qos}
		return []protocol.Job{one}
	}
	got, refused := d.Refuse(nil, asks("chem", "", "high"))
	if !refused || got.Code != view.NoSite || len(got.Sites) != 3 || !strings.Contains(got.Sites[0].Reason, "refused: closed") ||
		!strings.Contains(got.Sites[1].Reason, "refused: closed") || !strings.Contains(got.Sites[2].Reason, `QOS "high" of user "ada" of a: this site has none`) {
		t.Errorf("%+v, %t", got, refused)
	}
	if got, refused = d.Refuse(nil, asks("chem", "", "")); refused { // c uses no accounts
		t.Errorf("%+v", got)
	}
	stated := d.Partners[1].Mapping
	d.Partners[1].Mapping = nil
	if got, refused = d.Refuse(nil, asks("chem", "", "high")); refused {
		t.Errorf("%+v", got)
	}
	d.Partners[1].Mapping = stated
	d.Mapping = association.Table{}
	want := []string{`a, c: account "phys" and partition "gpu" are not used at this site`}
	if notices := d.AssociationNotices("ada", slices.Repeat(asks("phys", "gpu", ""), 2)); !slices.Equal(notices, want) {
		t.Errorf("%q", notices)
	}
}
