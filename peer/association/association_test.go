package association_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-hpc/switchyard/peer/association"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// table is that of a site that bills guests of south by their groups, and lets local users choose.
func table() association.Table {
	return association.Table{Priced: []string{"high", "idle", "low", "urgent"}, Rules: []association.Rule{
		{Origin: "north", Account: "*", Partition: "*", QOS: "*"},
		{Origin: "south", User: "mallory", Refuse: "no guests of that name"},
		{Origin: "south", Account: "phys-*", QOS: "low", AsAccount: "guest-phys"},
		{Origin: "south", Account: "phys-*", Partition: "gpu", AsAccount: "guest-phys", AsPartition: "a100"},
		{Origin: "south", User: "alice", Account: "admin", AsAccount: "staff", AsQOS: "high", Ignore: []string{association.Partition}},
		{Origin: "south", AsAccount: "guest", AsQOS: "idle", Partition: "batch"},
		{Origin: "west", Account: "?*", Refuse: "charged to its users only"},
		{Origin: "west", QOS: "low"},
		{Origin: "west", Partition: "debug", Refuse: "for the staff"},
		{Origin: "west", Partition: "test", AsQOS: "low", AsPartition: "b"},
		{Origin: "west", Partition: "x"},
		{Origin: "west", Partition: "?", AsPartition: "a"},
	}}
}

func TestMap(t *testing.T) {
	t.Parallel()
	ask := func(account, partition, qos string) protocol.Association {
		return protocol.Association{Account: account, Partition: partition, QOS: qos}
	}
	none := protocol.Association{}
	for name, tt := range map[string]struct {
		origin protocol.SiteName
		user   string
		asked  protocol.Association
		want   protocol.Association
		note   string // part of it
		denied string // part of it
	}{
		"as it is asked for":                     {"north", "bob", ask("proj", "gpu", "urgent"), ask("proj", "gpu", "urgent"), "", ""},
		"a QOS that has no price":                {"north", "bob", ask("", "", "vip"), none, "", `QOS "vip" of user "bob" of north: QOS "vip" has no price at this site`},
		"nothing is asked for":                   {"north", "bob", none, none, "", ""},
		"several partitions":                     {"north", "bob", ask("", "gpu,cpu,gpu", ""), ask("", "gpu,cpu", ""), "", ""},
		"of several partitions those mapped":     {"west", "bob", ask("", "x,debug,y,test,z", ""), ask("", "x,a", ""), `of the partitions "x,debug,y,test,z" only "x,y,z" counts here`, ""},
		"no rules for the origin":                {"east", "bob", ask("proj", "gpu", ""), none, `account "proj" and partition "gpu" are not used at this site`, ""},
		"no rules, one name":                     {"east", "bob", ask("", "gpu", ""), none, `partition "gpu" is not used at this site`, ""},
		"no rules, a QOS with a price":           {"east", "bob", ask("proj", "", "low"), none, `account "proj" is not used at this site; QOS "low" sets the price only`, ""},
		"no rules, a QOS in capitals":            {"east", "bob", ask("", "", "LOW"), none, `QOS "LOW" sets the price only`, ""},
		"no rules, a QOS without a price":        {"east", "bob", ask("proj", "", "vip"), none, "", `QOS "vip" of user "bob" of east: this site has none of that name`},
		"refused by user":                        {"south", "mallory", none, none, "", `jobs without account of user "mallory" of south: refused: no guests of that name`},
		"another account, the QOS that it names": {"south", "bob", ask("phys-7", "", "low"), ask("guest-phys", "", "low"), "", ""},
		"the next rule has the partition":        {"south", "bob", ask("phys-7", "gpu", ""), ask("guest-phys", "a100", ""), "", ""},
		"a QOS that no rule has":                 {"south", "bob", ask("phys-7", "", "urgent"), none, "", `account "phys-7" and QOS "urgent" of user "bob" of south: not mapped by any [[association]]`},
		"what is ignored is said":                {"south", "alice", ask("admin", "debug", ""), ask("staff", "", "high"), `partition "debug" is not used at this site`, ""},
		"another user":                           {"south", "bob", ask("admin", "debug", ""), none, "", `account "admin" and partition "debug" of user "bob" of south`},
		"a default beside a pattern":             {"south", "bob", ask("whatever", "batch", ""), ask("guest", "batch", "idle"), "", ""},
		"a pattern that no name fits":            {"south", "bob", none, none, "", ""},
		"of several partitions the one mapped":   {"south", "bob", ask("", "debug,batch", ""), ask("guest", "batch", "idle"), `"batch"`, ""},
		"none of several":                        {"south", "bob", ask("", "debug,test", ""), none, "", `partition "debug" of user`},
		"refused by name":                        {"west", "bob", ask("x", "", ""), none, "", `account "x" of user "bob" of west: refused: charged to its users only`},
		"an account in capitals":                 {"south", "bob", ask("PHYS-7", "", "low"), ask("guest-phys", "", "low"), "", ""},
		"a QOS as it is spelled at the site":     {"south", "bob", ask("phys-7", "", "Low"), ask("guest-phys", "", "low"), "", ""},
		"another partition in capitals":          {"south", "bob", ask("phys-7", "GPU", ""), none, "", `partition "GPU" of user`},
		"another user in capitals":               {"south", "Mallory", ask("", "batch", ""), ask("guest", "batch", "idle"), "", ""},
		"?* is not nothing":                      {"west", "bob", ask("", "", "low"), ask("", "", "low"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := table().Map(tt.origin, tt.user, tt.asked)
			switch {
			case tt.denied != "":
				if err == nil || !strings.Contains(err.Error(), tt.denied) {
					t.Errorf("got %+v, %v; want a refusal with %q", got, err, tt.denied)
				}
			case err != nil || got.Association != tt.want || !strings.Contains(got.Note, tt.note) || (tt.note == "") != (got.Note == ""):
				t.Errorf("got %+v, %v; want %+v with a note of %q", got, err, tt.want, tt.note)
			}
		})
	}
}

// TestRefusedInCapitals: what is refused by name is refused however it is spelled, as Slurm would take it.
func TestRefusedInCapitals(t *testing.T) {
	t.Parallel()
	rules := association.Table{Rules: []association.Rule{
		{Origin: "south", QOS: "vip", Refuse: "for the staff"},
		{Origin: "south", Account: "Secret*", Refuse: "for the staff"},
		{Origin: "south", Account: "*", Partition: "*", QOS: "*"},
	}}
	for _, asked := range []protocol.Association{{QOS: "vip"}, {QOS: "VIP"}, {QOS: "viP"}, {Account: "secret"}, {Account: "SECRET-2"}} {
		if got, err := rules.Map("south", "bob", asked); err == nil {
			t.Errorf("%+v gets %+v", asked, got)
		}
	}
}

// TestPrice: where nothing is mapped the job is priced by what it asks for.
func TestPrice(t *testing.T) {
	t.Parallel()
	asked := protocol.Association{QOS: "LOW"}
	for origin, want := range map[protocol.SiteName]string{"east": "low", "north": "low", "south": ""} {
		of := asked
		if origin == "south" {
			of = protocol.Association{}
		}
		mapped, err := table().Map(origin, "bob", of)
		if err != nil || mapped.Price(of).QOS != want {
			t.Errorf("%s: %+v, %v; want a price by %q", origin, mapped, err, want)
		}
	}
}

// TestNothingIsLost: whatever a table says, of each name that a job asks for it is said what becomes of it:
// the job gets it or another one, or a note or a refusal names it. And the job gets no name that neither it
// asks for nor the table gives.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	name := rapid.SampledFrom([]string{"", "a", "ab", "b"})
	pattern := rapid.SampledFrom([]string{"", "", "*", "?*", "a*", "a", "b"})
	refuse := rapid.SampledFrom([]string{"", "", "", "never"})
	rule := rapid.Custom(func(t *rapid.T) association.Rule {
		return association.Rule{
			Origin: rapid.SampledFrom([]string{"south", "*", "west"}).Draw(t, "origin"), User: pattern.Draw(t, "user"),
			Account: pattern.Draw(t, "account"), Partition: pattern.Draw(t, "partition"), QOS: pattern.Draw(t, "qos"),
			AsAccount: name.Draw(t, "as account"), AsPartition: name.Draw(t, "as partition"), AsQOS: name.Draw(t, "as qos"),
			Ignore: rapid.SliceOf(rapid.SampledFrom([]string{association.Account, association.Partition, association.QOS})).Draw(t, "ignore"),
			Refuse: refuse.Draw(t, "refuse"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		rules := association.Table{Rules: rapid.SliceOfN(rule, 0, 6).Draw(t, "rules"), Priced: rapid.SliceOfN(name, 0, 1).Draw(t, "priced")}
		asked := protocol.Association{Account: name.Draw(t, "account"), Partition: name.Draw(t, "partition"), QOS: name.Draw(t, "qos")}
		got, err := rules.Map("south", "ab", asked)
		if err != nil {
			what, qos := asked.AssociationText(), protocol.Association{QOS: asked.QOS}
			if !strings.Contains(err.Error(), what) && (qos.QOS == "" || !strings.Contains(err.Error(), qos.AssociationText())) {
				t.Fatalf("the refusal %q does not name %s", err, what)
			}
			return
		}
		for _, one := range []struct {
			asked, got string
			as         func(association.Rule) string
		}{
			{asked.Account, got.Account, func(r association.Rule) string { return r.AsAccount }},
			{asked.Partition, got.Partition, func(r association.Rule) string { return r.AsPartition }},
			{asked.QOS, got.QOS, func(r association.Rule) string { return r.AsQOS }},
		} {
			if one.asked != "" && one.got == "" && !strings.Contains(got.Note, `"`+one.asked+`"`) {
				t.Fatalf("%q of %+v is lost: %+v", one.asked, asked, got)
			}
			given := one.got == "" || one.got == one.asked
			for _, r := range rules.Rules {
				given = given || one.as(r) == one.got
			}
			if !given {
				t.Fatalf("%q comes from nowhere", one.got)
			}
		}
		if again, _ := rules.Map("south", "ab", asked); again != got {
			t.Fatalf("%+v, and then %+v", got, again)
		}
	})
}

// TestPatterns: a pattern fits what the regular expression that it stands for fits.
func TestPatterns(t *testing.T) {
	t.Parallel()
	letters := rapid.SampledFrom([]rune("abü*?."))
	multibyte := association.Table{Rules: []association.Rule{{Origin: "*", User: "*?a", AsAccount: "yes"}}}
	if got, err := multibyte.Map("south", "ü", protocol.Association{}); err != nil || got.Account != "" {
		t.Errorf("%+v, %v", got, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(letters, 1, 6, -1).Draw(t, "pattern")
		user := rapid.StringOfN(rapid.SampledFrom([]rune("abü.")), 1, 6, -1).Draw(t, "user")
		rules := association.Table{Rules: []association.Rule{{Origin: "*", User: pattern, AsAccount: "yes"}}}
		got, err := rules.Map("south", user, protocol.Association{})
		quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		if want := regexp.MustCompile("^(?s:" + quoted + ")$").MatchString(user); err != nil || (got.Account == "yes") != want {
			t.Fatalf("%q fits %q: %+v, %v; want %t", pattern, user, got, err, want)
		}
	})
}
