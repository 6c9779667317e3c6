package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/roster"
	"github.com/switchyard-hpc/switchyard/peer/statedir"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// rostered is the directory of site north, with a roster.
type rostered struct {
	dir    string
	signer *identity.Key
	keys   map[protocol.SiteName]string
}

func key(t *testing.T) *identity.Key {
	t.Helper()
	seed, _, err := identity.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	k, err := identity.ParseKey(seed)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const never = 1 << 52 // the end of a roster that does not end while a test runs

// inRoster is site north with a roster of north, south, east and west, of which west has no URL, and the rest of its configuration.
func inRoster(t *testing.T, rest string) *rostered {
	t.Helper()
	r := &rostered{dir: t.TempDir(), signer: key(t), keys: map[protocol.SiteName]string{}}
	for _, name := range []protocol.SiteName{"north", "south", "east", "west"} {
		r.keys[name] = key(t).Public()
	}
	r.write(t, 5, never, nil)
	r.configure(t, rest)
	return r
}

func (r *rostered) configure(t *testing.T, rest string) {
	t.Helper()
	for name, public := range r.keys {
		rest = strings.ReplaceAll(rest, "KEY-"+string(name), public)
	}
	writeFile(t, filepath.Join(r.dir, "north.toml"), fmt.Sprintf(
		"[site]\nname = \"north\"\nnumber = 1\nstate_dir = %q\n[nats]\nlisten = \"\"\n%s", r.dir, strings.ReplaceAll(rest, "SIGNER", r.signer.Public())))
}

// write writes a roster without some sites.
func (r *rostered) write(t *testing.T, serial int64, end protocol.Instant, without map[protocol.SiteName]bool) {
	t.Helper()
	list := roster.Roster{Serial: serial, End: end}
	for i, name := range []protocol.SiteName{"north", "south", "east", "west"} {
		site := roster.Site{Name: name, Number: protocol.SiteNumber(i + 1), PublicKey: r.keys[name], URL: "nats://" + string(name) + ".example.org:7501"}
		if name == "west" {
			site.URL = ""
		}
		if !without[name] {
			list.Sites = append(list.Sites, site)
		}
	}
	err := list.Sign("list", r.signer.Public(), identity.ValidatePublic, r.signer.Signer(identity.Roster))
	text, wrong := list.Encode()
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	writeFile(t, filepath.Join(r.dir, "grid.roster"), string(text))
}

// load is the configuration, and what is wrong with it or warned of.
func (r *rostered) load(t *testing.T) (c *config.Config, said string) {
	t.Helper()
	c, err := config.Load(r.dir)
	if err != nil {
		return nil, err.Error()
	}
	var lines []string
	for _, warning := range c.Warnings {
		lines = append(lines, warning.String())
	}
	return c, strings.Join(lines, "\n")
}

// partners are in words: name, whether the key is that of the roster, URL and max_jobs.
func (r *rostered) partners(c *config.Config) (all []string) {
	for _, p := range c.Partners {
		all = append(all, fmt.Sprintf("%s %v %s %d %v", p.Name, p.PublicKey == r.keys[p.Name], p.URL, p.MaxJobs, p.Users))
	}
	return all
}

const table = "[roster]\nfile = \"grid.roster\"\npublic_keys = [\"SIGNER\"]\n"

// What is in the roster is a partner if the site says so, and the tables of the site have the last word.
func TestSitesOfARoster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rest     string
		partners []string
		warns    []string
	}{
		"none":         {table, nil, []string{"no [[partner]] is configured"}},
		"all":          {table + "accept = [\"*\"]\n", []string{"south true nats://south.example.org:7501 0 map[]", "east true nats://east.example.org:7501 0 map[]"}, []string{"west has no URL in the roster, and this site has no [nats] listen"}},
		"named":        {table + "accept = [\"east\", \"ost\"]\nmax_jobs = 3\nusers = { \"*\" = \"guest\" }\n", []string{"east true nats://east.example.org:7501 3 map[*:guest]"}, []string{"ost is not in the roster (5), so it is no partner"}},
		"by a table":   {table + "[[partner]]\nname = \"south\"\nmax_jobs = 9\nusers = { ada = \"ada\" }\n", []string{"south true nats://south.example.org:7501 9 map[ada:ada]"}, nil},
		"own words":    {table + "accept = [\"south\"]\nmax_jobs = 3\nusers = { \"*\" = \"guest\" }\n[[partner]]\nname = \"south\"\npublic_key = \"KEY-south\"\nurl = \"nats://192.0.2.1:1\"\n", []string{"south true nats://192.0.2.1:1 0 map[]"}, nil},
		"not there":    {table + "[[partner]]\nname = \"nowhere\"\n[[partner]]\nname = \"east\"\n", []string{"east true nats://east.example.org:7501 0 map[]"}, []string{"nowhere is not in the roster (5), so it is no partner"}},
		"half allowed": {table + "accept = [\"east\"]\nmax_jobs = 3\n", []string{"east true nats://east.example.org:7501 3 map[]"}, []string{"and users permit jobs of the accepted sites together"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := inRoster(t, c.rest)
			got, said := r.load(t)
			if got == nil {
				t.Fatal(said)
			}
			if fmt.Sprint(r.partners(got)) != fmt.Sprint(c.partners) {
				t.Errorf("partners %q, want %q", r.partners(got), c.partners)
			}
			for _, words := range c.warns {
				if !strings.Contains(said, words) {
					t.Errorf("warnings %q lack %q", said, words)
				}
			}
			if len(c.warns) == 0 && said != "" {
				t.Errorf("warnings: %s", said)
			}
		})
	}
}

func TestRostersThatDoNotCount(t *testing.T) {
	t.Parallel()
	const all = table + "accept = [\"*\"]\n"
	for name, c := range map[string]struct {
		change func(*testing.T, *rostered)
		words  string
	}{
		"changed": {func(t *testing.T, r *rostered) {
			t.Helper()
			path := filepath.Join(r.dir, "grid.roster")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, strings.ReplaceAll(string(text), "south.example", "evil.example"))
		}, "grid.roster: signature: is not by the key that the roster names"},
		"by another": {func(t *testing.T, r *rostered) {
			t.Helper()
			r.signer = key(t)
			r.write(t, 5, never, nil)
		}, "is none of [roster] public_keys"},
		"older": {func(t *testing.T, r *rostered) {
			t.Helper()
			if err := statedir.NoteRoster(r.dir, 6, strings.Repeat("a", 64)); err != nil {
				t.Fatal(err)
			}
		}, "serial: is 5, and a roster with 6 has counted here"},
		"another one": {func(t *testing.T, r *rostered) {
			t.Helper()
			if err := statedir.NoteRoster(r.dir, 5, strings.Repeat("a", 64)); err != nil {
				t.Fatal(err)
			}
		}, "serial: is 5, and another roster with that has counted here"},
		"none": {func(t *testing.T, r *rostered) {
			t.Helper()
			if err := os.Remove(filepath.Join(r.dir, "grid.roster")); err != nil {
				t.Fatal(err)
			}
		}, "grid.roster: the roster"},
		"no list": {func(t *testing.T, r *rostered) {
			t.Helper()
			writeFile(t, filepath.Join(r.dir, "grid.roster"), "serial = 5\n")
		}, "is no roster"},
		"no signer": {func(t *testing.T, r *rostered) {
			t.Helper()
			r.configure(t, "[roster]\nfile = \"grid.roster\"\n[[partner]]\nname = \"south\"\n")
		}, "roster.public_keys: is missing"},
		"no file": {func(t *testing.T, r *rostered) {
			t.Helper()
			r.configure(t, "[roster]\naccept = [\"*\"]\n")
		}, "roster.file: is missing"},
		"no key": {func(t *testing.T, r *rostered) {
			t.Helper()
			r.configure(t, table+"[[partner]]\nname = \"south\"\npublic_key = \"UAAA\"\n")
		}, "partner[south].public_key: "},
		"root": {func(t *testing.T, r *rostered) {
			t.Helper()
			r.configure(t, all+"max_jobs = 1\nusers = { \"*\" = \"root\" }\n")
		}, "roster.users.*: is mapped to root"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := inRoster(t, all)
			c.change(t, r)
			if got, said := r.load(t); got != nil || !strings.Contains(said, c.words) {
				t.Errorf("got %+v, %s", got, said)
			}
		})
	}
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The roster has this site with another number or key than it has itself. That is warned of, and is no error: the signers may be wrong.
func TestThisSiteInTheRoster(t *testing.T) {
	t.Parallel()
	r := inRoster(t, table)
	writeFile(t, filepath.Join(r.dir, "z.toml"), "[site]\nnumber = 8\n")
	c, said := r.load(t)
	if c == nil || !strings.Contains(said, "z.toml:2: site.number: is 8, and the roster (5) has north with 1; have one of them corrected") {
		t.Fatalf("got %+v, %s", c, said)
	}
	other := key(t).Public()
	if what := c.OwnKeyProblem(r.keys["north"]); what != "" {
		t.Errorf("the key of the roster: %s", what)
	}
	if what := c.OwnKeyProblem(other); !strings.Contains(what, "the roster (5) has of this site, north, the key "+r.keys["north"]+", and [site] key is "+other) {
		t.Errorf("another key: %s", what)
	}
	r.write(t, 6, never, map[protocol.SiteName]bool{"north": true})
	if c, said = r.load(t); c == nil || !strings.Contains(c.OwnKeyProblem(other), "the roster (6) does not have this site, north") {
		t.Errorf("not listed: %+v, %s", c, said)
	}
	r.write(t, 7, 1, nil)
	if c, said = r.load(t); c == nil || c.OwnKeyProblem(other) != "" {
		t.Errorf("by a roster that has ended: %+v, %s", c, said)
	}
	if c = (&config.Config{}); c.OwnKeyProblem(other) != "" {
		t.Error("without a roster")
	}
}

// Of a roster that has ended no site is a partner, and tables with keys of their own go on.
func TestEndOfARoster(t *testing.T) {
	t.Parallel()
	r := inRoster(t, table+"accept = [\"*\"]\n[[partner]]\nname = \"east\"\n[[partner]]\nname = \"south\"\nurl = \"nats://x:1\"\npublic_key = \"KEY-south\"\n")
	r.write(t, 5, 1, nil)
	got, said := r.load(t)
	if got == nil || fmt.Sprint(r.partners(got)) != "[south true nats://x:1 0 map[]]" || !strings.Contains(said, "roster 5 ended 1970-01-01") {
		t.Errorf("got %+v, %s", got, said)
	}
	if got != nil {
		unused := fmt.Sprint(got.UnusedPartners())
		if len(got.UnusedPartners()) != 2 || !strings.Contains(unused, "east is only in the roster (5), which has ended") || !strings.Contains(unused, "{west no partner, since roster 5 ended 1970-01-01") {
			t.Errorf("unused are %s", unused)
		}
	}
	soon := protocol.InstantOf(time.Now()).Add(config.RosterNotice - protocol.Hour)
	r.write(t, 6, soon, nil)
	if got, said = r.load(t); got == nil || len(got.Partners) != 2 || !strings.Contains(said, "roster 6 ends ") {
		t.Fatalf("got %+v, %s", got, said)
	}
	// A peer that runs on says what is to come.
	for when, words := range map[protocol.Instant]string{
		soon.Add(-config.RosterNotice - 1): "", soon.Add(-config.RosterNotice): "roster 6 ends ", soon - 1: "roster 6 ends ",
		soon: ", so from the next start or reload on none of its sites is a partner",
	} {
		if note := got.RosterNote(when); !strings.Contains(note, words) || (note == "") != (words == "") {
			t.Errorf("at %d before the end: %q, want %q", soon-when, note, words)
		}
	}
}

// A later roster changes the partners while the peer runs, as their tables would.
func TestRosterIsReloaded(t *testing.T) {
	t.Parallel()
	r := inRoster(t, table+"accept = [\"*\"]\n[[partner]]\nname = \"east\"\n")
	before, said := r.load(t)
	r.write(t, 6, never, map[protocol.SiteName]bool{"east": true})
	next, more := r.load(t)
	if before == nil || next == nil {
		t.Fatal(said, more)
	}
	mixed := before.With(next)
	if added, removed := before.OtherPartners(mixed); len(added) != 0 || fmt.Sprint(removed) != "[east]" || mixed.SignedRoster().Serial != 6 {
		t.Errorf("added %v, removed %v, roster %+v", added, removed, mixed.SignedRoster())
	}
	for _, change := range before.Changes(next) {
		if !change.Live {
			t.Errorf("%+v needs a restart", change)
		}
	}
}

// A roster is looked at before it is put in place, whatever is there: none yet, or one by a key that has no say any more. It must go with the
// tables of the site.
func TestRosterBeforeItIsInPlace(t *testing.T) {
	t.Parallel()
	r := inRoster(t, table+"accept = [\"south\"]\n[[partner]]\nname = \"east\"\npublic_key = \"KEY-east\"\n")
	stolen := r.signer
	r.signer = key(t)
	r.configure(t, table+"accept = [\"south\"]\n[[partner]]\nname = \"east\"\npublic_key = \"KEY-east\"\n")
	if got, said := r.load(t); got != nil {
		t.Fatalf("a roster by another key counts: %s", said)
	}
	current, next := filepath.Join(r.dir, "grid.roster"), filepath.Join(r.dir, "next.roster")
	replace := func(by *identity.Key, serial int64) {
		t.Helper()
		was := fileText(t, current)
		r.signer = by
		r.write(t, serial, never, nil)
		writeFile(t, next, fileText(t, current))
		writeFile(t, current, was)
	}
	own := r.signer
	replace(own, 6)
	if c, err := config.LoadWithRoster(next, r.dir); err != nil || c.SignedRoster().Serial != 6 || len(c.Partners) != 2 {
		t.Errorf("got %+v, %v", c, err)
	}
	if err := os.Remove(current); err != nil {
		t.Fatal(err)
	}
	if _, err := config.LoadWithRoster(next, r.dir); err != nil {
		t.Errorf("without one in place: %v", err)
	}
	writeFile(t, current, "")
	replace(stolen, 7)
	if _, err := config.LoadWithRoster(next, r.dir); err == nil || !strings.Contains(err.Error(), "is none of [roster] public_keys") {
		t.Errorf("by another key: %v", err)
	}
	r.keys["east"] = key(t).Public()
	replace(own, 8)
	if c, err := config.LoadWithRoster(next, r.dir); err != nil || len(c.Partners) != 1 || !strings.Contains(fmt.Sprint(c.Warnings), "partner[east].public_key: the roster (8) has no such key for east") {
		t.Errorf("with another key than the table: %+v, %v", c, err)
	}
}

// What signers write keeps no peer from its start: a table whose keys the roster does not have makes no partner, and of two keys the one
// counts that both have. The warning names the table, whichever tables are left.
func TestKeysThatTheRosterDoesNotHave(t *testing.T) {
	t.Parallel()
	const east, south = "[[partner]]\nname = \"east\"\n", "[[partner]]\nname = \"south\"\nurl = \"nats://x:1\"\n"
	for name, c := range map[string]struct {
		rest     string
		partners []string
		unused   []protocol.SiteName
		warns    []string
	}{
		"another one": {
			south + "public_key = \"OTHER\"\n" + east,
			[]string{"east true nats://east.example.org:7501 0 map[]"},
			[]protocol.SiteName{"south"},
			[]string{"north.toml:13: partner[south].public_key: the roster (5) has no such key for south, so south is no partner and nothing signed by it counts; write what the roster has (KEY-south)"},
		},
		"accepted, too": { // by the keys of the roster it would be let in although the table says otherwise
			"ACCEPT" + south + "public_key = \"OTHER\"\n", []string{"east true nats://east.example.org:7501 0 map[]"}, []protocol.SiteName{"south", "west"}, []string{"so south is no partner"},
		},
		"public_key": {
			south + "public_key = \"OTHER\"\nnext_public_key = \"KEY-south\"\n",
			[]string{"south true nats://x:1 0 map[]"},
			nil,
			[]string{"partner[south].public_key: the roster (5) has no such key for south, so that only next_public_key counts"},
		},
		"next_public_key": {
			south + "next_public_key = \"OTHER\"\npublic_key = \"KEY-south\"\n",
			[]string{"south true nats://x:1 0 map[]"},
			nil,
			[]string{"partner[south].next_public_key: the roster (5) has no such key for south, so it does not count"},
		},
		"of another table": {
			"ACCEPT" + south + "[[partner]]\nname = \"nowhere\"\nurl = \"nats://x:1\"\npublic_key = \"KEY-east\"\n",
			[]string{"south true nats://x:1 0 map[]", "nowhere false nats://x:1 0 map[]"},
			[]protocol.SiteName{"east", "west"},
			[]string{"which is in the table of nowhere here, so east is no partner"},
		},
		"of another table, by a table": {
			east + "[[partner]]\nname = \"nowhere\"\nurl = \"nats://x:1\"\npublic_key = \"KEY-east\"\n",
			[]string{"nowhere false nats://x:1 0 map[]"},
			[]protocol.SiteName{"east"},
			[]string{"partner[east].name: the roster (5) has of east the key KEY-east, which is in the table of nowhere"},
		},
		"unreachable": {
			"[[partner]]\nname = \"west\"\n" + east, []string{"east true nats://east.example.org:7501 0 map[]"}, []protocol.SiteName{"west"}, []string{"partner[west].url: west has no URL in the roster"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := inRoster(t, "")
			other := key(t).Public()
			r.configure(t, strings.NewReplacer("ACCEPT", "accept = [\"*\"]\n", "OTHER", other).Replace(table+c.rest))
			got, said := r.load(t)
			if got == nil {
				t.Fatal(said)
			}
			if fmt.Sprint(r.partners(got)) != fmt.Sprint(c.partners) {
				t.Errorf("partners %q, want %q", r.partners(got), c.partners)
			}
			var unused []protocol.SiteName
			for _, one := range got.UnusedPartners() {
				unused = append(unused, one.Site)
			}
			if fmt.Sprint(unused) != fmt.Sprint(c.unused) {
				t.Errorf("unused %v, want %v", unused, c.unused)
			}
			for _, p := range got.Partners {
				if slices.Contains(p.PublicKeys(), other) {
					t.Errorf("a key counts that the roster does not have: %+v", p)
				}
			}
			for _, words := range c.warns {
				for site, public := range r.keys {
					words = strings.ReplaceAll(words, "KEY-"+string(site), public)
				}
				if !strings.Contains(said, words) {
					t.Errorf("warnings %q lack %q", said, words)
				}
			}
		})
	}
}

// A roster that has this site's key of another one, as when two keys were mixed up, keeps the peer from its start no more than another mistake:
// the links take no partner with that key.
func TestTheRosterHasTheKeyOfThisSiteOfAnother(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{
		"accepted":   table + "accept = [\"south\", \"east\"]\n",
		"by a table": table + "accept = [\"east\"]\n[[partner]]\nname = \"south\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := inRoster(t, rest)
			seed, own, err := identity.GenerateKey()
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(r.dir, "own.key"), string(seed))
			writeFile(t, filepath.Join(r.dir, "z.toml"), "[site]\nkey = \"own.key\"\n")
			r.keys["south"] = own
			r.write(t, 6, never, nil)
			got, said := r.load(t)
			if got == nil || fmt.Sprint(r.partners(got)) != "[east true nats://east.example.org:7501 0 map[]]" ||
				!strings.Contains(said, "the roster (6) has of south the key "+own+", which is that of this site, so south is no partner; have the roster corrected") {
				t.Errorf("got %+v, %s", got, said)
			}
		})
	}
}

// A table [[association]] for a site that the signers have removed, or whose roster has ended, keeps no peer from starting either, and is
// for the site again when that is back.
func TestAssociationsOfSitesThatTheRosterLacks(t *testing.T) {
	t.Parallel()
	r := inRoster(t, table+"accept = [\"*\"]\n[[association]]\norigin = \"east\"\nas_account = \"guests\"\n")
	const words = "\"east\" is neither this site nor a partner by a table or the roster, so the table is for no jobs"
	before, said := r.load(t)
	if before == nil || strings.Contains(said, words) {
		t.Fatal(said)
	}
	r.write(t, 6, never, map[protocol.SiteName]bool{"east": true})
	removed, said := r.load(t)
	if removed == nil || !strings.Contains(said, words) {
		t.Fatalf("without east: %s", said)
	}
	if mixed := before.With(removed); len(mixed.Partners) != 1 || mixed.SignedRoster().Serial != 6 {
		t.Errorf("reloaded without east: %+v", mixed.Partners)
	}
	r.write(t, 7, 1, nil)
	if c, why := r.load(t); c == nil || !strings.Contains(why, words) {
		t.Errorf("ended: %s", why)
	}
	r.write(t, 8, never, nil)
	back, said := r.load(t)
	if back == nil || strings.Contains(said, words) {
		t.Fatalf("with east: %s", said)
	}
	if mixed := removed.With(back); len(mixed.Partners) != 2 {
		t.Errorf("reloaded with east: %+v", mixed.Partners)
	}
}

// A key that the signers have withdrawn counts again by the table when the roster ends. That is said.
func TestAWithdrawnKeyCountsAfterTheEnd(t *testing.T) {
	t.Parallel()
	r := inRoster(t, table+"[[partner]]\nname = \"south\"\nurl = \"nats://x:1\"\npublic_key = \"KEY-south\"\n")
	const words = "partner[south].public_key: the roster (6) has other keys of south ("
	r.write(t, 5, 1, nil)
	if got, said := r.load(t); got == nil || strings.Contains(said, "has other keys") {
		t.Errorf("with the key of the roster: %s", said)
	}
	r.keys["south"] = key(t).Public()
	r.write(t, 6, 1, nil)
	if got, said := r.load(t); got == nil || len(got.Partners) != 1 || !strings.Contains(said, words+r.keys["south"]+"), but has ended, so the keys of the table count") {
		t.Errorf("with another one: %+v, %s", got, said)
	}
}
