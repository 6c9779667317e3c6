package config_test

import (
	"slices"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/protocol"
)

func TestSince(t *testing.T) {
	t.Parallel()
	before := loaded(t, partner("south", south, "max_cpus = 3\n")+partner("west", west, "url = \"nats://west:1\"\n")+
		"[limits.users]\na = { max_jobs = 3 }\n\"b.c\" = { max_jobs = 4 }\n")
	after := loaded(t, "[policy]\nname = \"local\"\n[rounds]\nquote_timeout = \"1s\"\n"+partner("east", east, "")+
		partner("south", south, "max_cpus = 4\n")+"[limits.users]\na = { max_jobs = 5 }\nd = { max_jobs = 6 }\n[mail]\nfrom = \"hpc@site.example\"\n")
	earlier := before.Settings()
	earlier["rounds"]["not_in_this_version"] = "3"
	delete(earlier["rounds"], "stay_local") // an earlier version did not have it
	var got []string
	for _, c := range after.Since(earlier) {
		got = append(got, c.Key+": "+c.From+" → "+c.To)
	}
	whole := func(of config.Settings, table string) string {
		if len(of[table]) < 2 {
			t.Fatalf("%s: %v", table, of[table])
		}
		return "{ " + protocol.Count(len(of[table]), "key") + " }"
	}
	want := []string{
		`policy.name: "tc" → "local"`, `rounds.quote_timeout: "2s" → "1s"`, `limits.users.a: { max_jobs = 3, max_cpus = 0, max_submit = 0 } → { max_jobs = 5, max_cpus = 0, max_submit = 0 }`,
		`limits.users.d:  → { max_jobs = 6, max_cpus = 0, max_submit = 0 }`, `limits.users.b.c: { max_jobs = 4, max_cpus = 0, max_submit = 0 } → `, "mail:  → " + whole(after.Settings(), "mail"),
		"partner[east]:  → " + whole(after.Settings(), "partner[east]"), "partner[south].max_cpus: 3 → 4",
		"partner[west]: " + whole(earlier, "partner[west]") + " → ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	if changes := after.Since(after.Settings()); len(changes) > 0 {
		t.Errorf("no change is %v", changes)
	}
}
