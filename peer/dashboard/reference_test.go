package dashboard

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/api"
)

// The reference says which fields and parameters are required, and which values texts have.
func TestReferenceHasRequiredFieldsAndValues(t *testing.T) {
	t.Parallel()
	page, err := readReference(api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]object{}
	for _, o := range page.Objects {
		objects[o.ID] = o
	}
	required := func(fields []field, name string) bool {
		at := slices.IndexFunc(fields, func(f field) bool { return f.Name == name })
		return at >= 0 && fields[at].Required
	}
	if fields := objects["type-request-protocol-Spec"].Fields; !required(fields, "cpus") || required(fields, "name") {
		t.Errorf("got %+v, want cpus alone of cpus and name to be required", fields)
	}
	if values := objects["type-protocol-State"].Values; !slices.Contains(values, "NODE_FAIL") {
		t.Errorf("the states of jobs are %q", values)
	}
	kinds := map[string]string{}
	for _, group := range page.Groups {
		for i := range group.Operations {
			for _, p := range group.Operations[i].Parameters {
				kinds[group.Operations[i].ID+" "+p.In+" "+p.Name] = p.Kind.Before
				if p.Name == "Content-Digest" && !p.Required {
					t.Error("Content-Digest is not required")
				}
			}
		}
	}
	for parameter, want := range map[string]string{
		"op-get-history query guests": "none | only", "op-post-files header Content-Digest": "string", "op-get-jobs query all": "boolean",
	} {
		if kinds[parameter] != want {
			t.Errorf("%s is %q, want %q", parameter, kinds[parameter], want)
		}
	}
	for _, f := range objects["type-view-UseReport"].Fields {
		if f.Name == "age_ms" && f.Kind.Before != "integer or null" {
			t.Errorf("age_ms is %q", f.Kind.Before)
		}
	}
}
