package protocol_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func whole() protocol.Change {
	return protocol.Change{
		Name: new("sum"), Comment: new(""), WallTime: new(protocol.Hour), MinTime: new(protocol.Minute), Sites: []protocol.SiteName{"a", "b"},
		Nice: new(int64(5)), Account: new("chem"), Partition: new("gpu"), QOS: new("low"),
		Begin: new(protocol.Instant(0)), Deadline: new(protocol.Instant(1_800_000_000_000)), Priority: new(int64(0)),
		Dependency: &protocol.Dependency{Terms: []protocol.DependencyTerm{{Kind: protocol.Singleton}}}, Throttle: new(3),
	}
}

// TestChangeIsWhole: each field of a change is applied, told, in one of its parts, and kept behind an earlier change.
func TestChangeIsWhole(t *testing.T) {
	t.Parallel()
	c := whole()
	const want = "name sum, comment none, time limit 1:00:00, least time limit 0:01:00, sites a, b, nice 5, account chem, partition gpu, QOS low, " +
		"no begin, deadline 2027-01-15 08:00:00Z, the priority that is worked out, dependency singleton(unfulfilled), throttle 3"
	if got := c.String(); got != want {
		t.Errorf("it is told as\n%s, want\n%s", got, want)
	}
	data, err := json.Marshal(c)
	var back protocol.Change
	if err != nil || json.Unmarshal(data, &back) != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("as JSON it is %s", data)
	}
	for i := range reflect.TypeFor[protocol.Change]().NumField() {
		var one protocol.Change
		field, name := reflect.ValueOf(&one).Elem().Field(i), reflect.TypeFor[protocol.Change]().Field(i).Name
		if field.Set(reflect.ValueOf(&c).Elem().Field(i)); name == "Anywhere" {
			field.SetBool(true)
		}
		origin, site := one.Parts()
		if origin.None() == site.None() {
			t.Errorf("%s is in both parts, or in none: %v and %v", name, origin.None(), site.None())
		}
		if got := new(protocol.Change).After(&one); !reflect.DeepEqual(*got, one) {
			t.Errorf("%s: behind it comes nothing, and it is %+v", name, got)
		}
		if got := one.After(&protocol.Change{}); !reflect.DeepEqual(*got, one) {
			t.Errorf("%s: before it comes nothing, and it is %+v", name, got)
		}
		if err := one.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "Throttle" || name == "Begin" || name == "Priority" || name == "Comment" || name == "Anywhere" {
			continue // zero as before
		}
		var spec protocol.Spec
		var conditions protocol.Conditions
		if one.Apply(&spec, &conditions); reflect.DeepEqual(spec, protocol.Spec{}) && conditions == (protocol.Conditions{}) {
			t.Errorf("%s is not applied", name)
		}
	}
}

// TestChangeAfter: of two changes the later one counts.
func TestChangeAfter(t *testing.T) {
	t.Parallel()
	earlier := whole()
	later := protocol.Change{Name: new("product"), Anywhere: true, Nice: new(int64(0))}
	got := later.After(&earlier)
	if *got.Name != "product" || *got.Nice != 0 || !got.Anywhere || got.Sites != nil || *got.WallTime != protocol.Hour {
		t.Errorf("%+v", got)
	}
	if later.After(nil) != &later {
		t.Error("after nothing it is another one")
	}
}

// TestChangeKeepsKill: whether a job ends that can never start is not changed with what it waits for.
func TestChangeKeepsKill(t *testing.T) {
	t.Parallel()
	c := whole()
	conditions := protocol.Conditions{Dependency: &protocol.Dependency{KillInvalid: true}}
	if c.Apply(new(protocol.Spec), &conditions); !conditions.Dependency.KillInvalid || c.Dependency.KillInvalid {
		t.Errorf("%+v of %+v", conditions.Dependency, c.Dependency)
	}
}

// TestWrongChanges: a change without meaning is refused.
func TestWrongChanges(t *testing.T) {
	t.Parallel()
	met := &protocol.Dependency{Terms: []protocol.DependencyTerm{{Kind: protocol.Singleton, Met: 1}}}
	for name, c := range map[string]protocol.Change{
		"nothing":           {},
		"sites and any":     {Sites: []protocol.SiteName{"a"}, Anywhere: true},
		"negative throttle": {Throttle: new(-1)},
		"met":               {Dependency: met},
		"unknown kind":      {Dependency: &protocol.Dependency{Terms: []protocol.DependencyTerm{{Kind: "never", Job: 1_000_000_000_001}}}},
	} {
		if c.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
