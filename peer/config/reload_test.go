package config_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const reloadBase = "[site]\nname = \"north\"\nnumber = 1\n"

func loaded(t *testing.T, text string) *config.Config {
	t.Helper()
	dir := directory(t, map[string]string{"site.toml": reloadBase + text})
	c, err := config.Load(filepath.Join(dir, "site.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func partner(name, key, rest string) string {
	return "[[partner]]\nname = \"" + name + "\"\npublic_key = \"" + key + "\"\nmax_jobs = 1\nusers = { a = \"b\" }\n" + rest
}

func TestChangesTellWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	before := loaded(t, partner("south", south, "max_cpus = 3\n"))
	after := loaded(t, "[localsched]\ncpus = 4\npolicy = \"ff\"\n[rounds]\ninitiation = \"receiver\"\nvolunteer_below = 0.25\n"+
		"quote_timeout = \"1s\"\n[log]\nlevel = \"debug\"\n"+partner("east", east, "")+partner("south", south, "max_cpus = 4\n"))
	var live, restart []string
	for _, change := range before.Changes(after) {
		line := change.Key + ": " + change.From + " → " + change.To
		switch {
		case strings.HasPrefix(change.Key, "partner[east]"):
			if !change.Live {
				t.Errorf("%s is no live change", line)
			}
		case change.Live:
			live = append(live, line)
		default:
			restart = append(restart, line)
		}
	}
	wantLive := []string{
		`localsched.policy: "easy" → "ff"`, `rounds.initiation: "sender" → "receiver"`, "rounds.volunteer_below: 0.7 → 0.25",
		`rounds.quote_timeout: "2s" → "1s"`, `log.level: "info" → "debug"`, "partner[south].max_cpus: 3 → 4",
	}
	wantRestart := []string{"localsched.cpus: 0 → 4"}
	if !slices.Equal(live, wantLive) || !slices.Equal(restart, wantRestart) {
		t.Errorf("live %q, restart %q", live, restart)
	}
	if changes := after.Changes(after); len(changes) > 0 {
		t.Errorf("no change is told as %v", changes)
	}
}

func TestOnlyWhatMayChangeChanges(t *testing.T) {
	t.Parallel()
	before := loaded(t, "[policy.tc]\nturnaround_tolerance = \"3s\"\n")
	after := loaded(t, "[localsched]\ncpus = 4\n[policy]\nname = \"local\"\n[rounds]\nlocal_wait_threshold = \"7s\"\nstay_local = true\n"+
		"check_interval = \"2s\"\nquote_timeout = \"1s\"\n[handoff]\nretry_initial = \"2s\"\n")
	mixed := before.With(after)
	tuning := mixed.Runtime(policy.Describe(mixed.BuiltIn(mixed.Policy.Name)))
	if tuning.Policy.Name != "local" || tuning.LocalWaitThreshold != 7*protocol.Second || !tuning.StayLocal || tuning.VolunteerBelow != 700_000 ||
		tuning.CheckInterval != 2*protocol.Second || tuning.QuoteTimeout != protocol.Second {
		t.Errorf("tuning: %+v", tuning)
	}
	if mixed.LocalSched.CPUs != 0 || mixed.Handoff.RetryInitial != protocol.Second {
		t.Errorf("what needs a restart has changed: %+v", mixed)
	}
	if before.Policy.Name != "tc" || before.Policy.TC.TurnaroundTolerance != 3*protocol.Second || before.Rounds.Initiation != policy.Sender {
		t.Errorf("the old configuration has changed: %+v", before)
	}
	left := mixed.Changes(after)
	if len(left) != 2 || left[0].Live || left[1].Live {
		t.Errorf("then still to change: %+v", left)
	}
}

// TestPartnersChange: partners may come, go and change while the peer runs, unless they need a key
// that may not.
func TestPartnersChange(t *testing.T) {
	t.Parallel()
	before := loaded(t, partner("south", south, "max_cpus = 3\n")+partner("west", west, "url = \"nats://west:1\"\n"))
	after := loaded(t, "[nats]\nlisten = \"127.0.0.1:7777\"\n"+partner("east", east, "")+partner("south", south, "max_cpus = 4\n"))
	mixed := before.With(after)
	if !reflect.DeepEqual(mixed.Partners, after.Partners) || mixed.NATS.Listen != before.NATS.Listen {
		t.Errorf("the mixture: %+v, %+v", mixed.Partners, mixed.NATS)
	}
	if added, removed := before.OtherPartners(mixed); !slices.Equal(added, []protocol.SiteName{"east"}) || !slices.Equal(removed, []protocol.SiteName{"west"}) {
		t.Errorf("added %v, removed %v", added, removed)
	}
	if left := mixed.Changes(after); len(left) != 1 || left[0].Key != "nats.listen" {
		t.Errorf("then still to change: %+v", left)
	}
	var shown strings.Builder
	if err := mixed.Show(&shown, true); err != nil || strings.Contains(shown.String(), "west") {
		t.Errorf("shown, %v:\n%s", err, shown.String())
	}

	// Of a site without a server all partners must be dialled, until it is started with one.
	alone := loaded(t, "[nats]\nlisten = \"\"\n"+partner("west", west, "url = \"nats://west:1\"\n"))
	for _, change := range alone.Changes(after) {
		if change.Live {
			t.Errorf("%s changes while the peer runs", change.Key)
		}
	}
	if mixed = alone.With(after); !reflect.DeepEqual(mixed.Partners, alone.Partners) {
		t.Errorf("the mixture: %+v", mixed.Partners)
	}
}

// TestParametersOfThePolicyAreTuned: an ε that differs reaches the state machine,
// and so its recording.
func TestParametersOfThePolicyAreTuned(t *testing.T) {
	t.Parallel()
	before := loaded(t, "[policy.tc]\nturnaround_tolerance = \"3s\"\n")
	tuned := before.With(loaded(t, "[policy.tc]\nturnaround_tolerance = \"4s\"\n"))
	want := []policy.Param{{Name: "epsilon_ms", Value: "4000"}}
	if got := tuned.BuiltIn("tc").Info().Params; !slices.Equal(got, want) {
		t.Errorf("the parameters %v, want %v", got, want)
	}
}

// A plugin may be added while the peer runs, and named at once; a table that is there
// already may not change.
func TestPluginsMayBeAdded(t *testing.T) {
	t.Parallel()
	const one = "[[plugin]]\nname = \"one\"\nkind = \"policy\"\npath = \"/usr/lib/one\"\n"
	before := loaded(t, "[policy]\nname = \"one\"\n"+one)
	next := loaded(t, "[policy]\nname = \"two\"\n[[plugin]]\nname = \"two\"\nkind = \"policy\"\npath = \"/usr/lib/two\"\n"+
		strings.Replace(one, "/usr/lib/one", "/opt/one", 1))
	live := map[string]bool{}
	for _, change := range before.Changes(next) {
		live[change.Key] = change.Live
	}
	if !live["policy.name"] || !live["plugin[two].path"] || live["plugin[one].path"] {
		t.Errorf("changes: %v", live)
	}
	mixed := before.With(next)
	if two := mixed.Plugin(config.PolicyKind, "two"); two == nil || two.Path != "/usr/lib/two" || mixed.Policy.Name != "two" {
		t.Errorf("mixed: %+v, policy %s", mixed.Plugins, mixed.Policy.Name)
	}
	if mixed.Plugin(config.PolicyKind, "one").Path != "/usr/lib/one" || len(before.Plugins) != 1 {
		t.Errorf("what was there has changed: %+v, before %+v", mixed.Plugins, before.Plugins)
	}
	if left := mixed.Changes(next); len(left) == 0 || left[0].Live {
		t.Errorf("then still to change: %+v", left)
	}
}

// What a site charges holds until the peer is started again, as quotes that are out go by it.
func TestChangesOfCosts(t *testing.T) {
	t.Parallel()
	const costs = "[prices]\ntime_zone = \"UTC\"\n[cost.cpu]\nprice = 0.05\n[[cost.cpu.period]]\nname = \"night\"\nhours = \"20:00-08:00\"\nprice = 0.02\n"
	const money = "currency = \"CHF\"\n"
	before := loaded(t, money+costs)
	after := loaded(t, money+strings.Replace(costs, "0.02", "0.03", 1)+"[cost.data]\nper_gb_in = 1.0\n[default_weights]\nobjective = \"green\"\n")
	var got []string
	for _, change := range before.Changes(after) {
		if change.Live {
			t.Errorf("%s changes while the peer runs", change.Key)
		}
		got = append(got, change.Key+": "+change.From+" → "+change.To)
	}
	want := []string{
		"cost.cpu.period[night].price: 0.02 → 0.03", "cost.cpu.period[night].guest_price: 0.02 → 0.03", "cost.data.per_gb_in: 0.0 → 1.0",
		`default_weights.objective: "balanced" → "green"`, "default_weights.wait_weight: 1.0 → 0.0", "default_weights.energy_weight: 1.0 → 100.0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if mixed := before.With(after); len(before.Changes(mixed)) > 0 {
		t.Errorf("changed at once: %v", before.Changes(mixed))
	}
}

// TestOIDCUsersChange: for whom an issuer's tokens stand may change while the peer runs, and their order counts; the issuer may not.
func TestOIDCUsersChange(t *testing.T) {
	t.Parallel()
	issuer := func(audience string, users ...string) string {
		var text strings.Builder
		fmt.Fprintf(&text, "[api]\nlisten = \"127.0.0.1:9760\"\n[[api.oidc]]\nname = \"hpc\"\nissuer = \"https://login.example.org\"\naudience = %q\n", audience)
		for _, user := range users {
			fmt.Fprintf(&text, "[[api.oidc.user]]\nsubject = \"s-%s\"\nuser = %q\nscopes = [\"read\"]\n", user, user)
		}
		return text.String()
	}
	before, after := loaded(t, issuer("switchyard", "ann")), loaded(t, issuer("switchyard", "bob", "ann"))
	changes := before.Changes(after)
	if len(changes) == 0 {
		t.Error("no change")
	}
	for _, change := range changes {
		if !change.Live {
			t.Errorf("%+v needs a restart", change)
		}
	}
	mixed := before.With(after)
	if got := mixed.API.OIDC[0].Rules(); len(got) != 2 || got[0].User != "bob" || got[1].Subject != "s-ann" || len(before.API.OIDC[0].Users) != 1 {
		t.Errorf("%+v of %+v", got, before.API.OIDC)
	}
	if left := mixed.Changes(after); len(left) > 0 {
		t.Errorf("then still to change: %+v", left)
	}
	claims := func(line string) *config.Config {
		return loaded(t, strings.Replace(issuer("switchyard", "bob"), "audience", line+"\naudience", 1))
	}
	for name, next := range map[string]*config.Config{
		"another audience": loaded(t, issuer("others", "bob")), "no issuer": loaded(t, ""),
		"claim of users": claims(`user_claim = "uid"`), "claim of groups": claims(`groups_claim = "roles"`), "claim of scopes": claims(`scopes_claim = "scp"`),
	} {
		if mixed = before.With(next); mixed.API.OIDC[0].Audience != "switchyard" || mixed.API.OIDC[0].Users[0].User != "ann" {
			t.Errorf("%s: %+v", name, mixed.API.OIDC)
		}
		for _, change := range before.Changes(next) {
			if change.Live {
				t.Errorf("%s: %+v is live", name, change)
			}
		}
	}
}

// Users of one issuer of several change while the peer runs, and where they are in the file goes with them; `config show` writes each below its issuer.
func TestUsersOfSeveralIssuers(t *testing.T) {
	t.Parallel()
	text := func(userOfSecond string) string {
		return `[api]
listen = "127.0.0.1:9760"
[[api.oidc]]
name = "hpc"
issuer = "https://login.example.org"
audience = "switchyard"
[[api.oidc.user]]
subject = "s-1"
user = "ann"
scopes = ["read"]
[[api.oidc.user]]
group = "hpc"
scopes = ["read"]
[[api.oidc]]
name = "eosc"
issuer = "https://aai.example.org"
audience = "switchyard"
[[api.oidc.user]]
subject = "s-1"
user = "` + userOfSecond + `"
scopes = ["read", "submit"]
`
	}
	before, after := loaded(t, text("bob")), loaded(t, text("cem"))
	changes := before.Changes(after)
	if len(changes) != 1 || changes[0].Key != "api.oidc[eosc].user[1].user" || changes[0].From != `"bob"` || changes[0].To != `"cem"` || !changes[0].Live {
		t.Errorf("%+v", changes)
	}
	mixed := before.With(after)
	if mixed.API.OIDC[1].Users[0].User != "cem" || before.API.OIDC[1].Users[0].User != "bob" || len(mixed.API.OIDC[0].Users) != 2 || len(mixed.Changes(after)) > 0 {
		t.Errorf("%+v", mixed.API.OIDC)
	}
	var shown strings.Builder
	if err := mixed.Show(&shown, false); err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(shown.String(), "\n[api]")
	if again := loaded(t, "[api]"+tables); len(again.Changes(after)) > 0 || len(after.Changes(again)) > 0 {
		t.Errorf("shown as\n%s", shown.String())
	}
}
