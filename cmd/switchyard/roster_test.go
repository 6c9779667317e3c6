package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/roster"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// signedList has the sites sign a roster of a number, with a key that is made at first.
func signedList(t *testing.T, dir string, serial int, sites ...*testbed.Site) (file string) {
	t.Helper()
	keys := map[protocol.SiteName]string{}
	for _, site := range sites {
		own, err := identity.LoadKey(filepath.Join(site.Dir, "site.key"))
		if err != nil {
			t.Fatal(err)
		}
		keys[site.Name] = own.Public()
	}
	return signedKeys(t, dir, serial, keys, sites...)
}

// signedKeys is [signedList] with the keys of the sites as the signers have them.
func signedKeys(t *testing.T, dir string, serial int, keys map[protocol.SiteName]string, sites ...*testbed.Site) (file string) {
	t.Helper()
	key := filepath.Join(dir, "grid.key")
	if _, err := os.Stat(key); err != nil {
		wantWords(t, command(t, "", "", "keygen", "--out", key), 0)
	}
	var list strings.Builder
	fmt.Fprintf(&list, "serial = %d\n", serial)
	for _, site := range sites {
		number := map[protocol.SiteName]int{"aurora": 1, "borealis": 2}[site.Name]
		fmt.Fprintf(&list, "[[site]]\nname = %q\nnumber = %d\npublic_key = %q\nurl = \"nats://%s\"\n", site.Name, number, keys[site.Name], site.Bus)
	}
	writeText(t, filepath.Join(dir, "grid.toml"), list.String())
	file = filepath.Join(dir, fmt.Sprintf("%d-%d.roster", serial, len(sites)))
	wantWords(t, command(t, "", "", "roster", "sign", filepath.Join(dir, "grid.toml"), "--key", key, "--out", file), 0, fmt.Sprintf("Roster %d with %d sites until ", serial, len(sites)))
	return file
}

func text(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Two sites are partners by a roster alone, and jobs run both ways. One that leaves the roster is none any more, an earlier roster does
// not bring it back, and a later one does; no peer is started again.
func TestARosterMakesPartners(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	aurora, borealis := g.Sites[0], g.Sites[1]
	account, err := testbed.JobAccount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := privateDir(t)
	both := signedList(t, dir, 1, aurora, borealis)
	public, err := os.ReadFile(filepath.Join(dir, "grid.key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(site *testbed.Site, file string) {
		writeText(t, filepath.Join(site.Dir, "grid.roster"), text(t, file))
	}
	for site, partner := range map[*testbed.Site]string{aurora: "borealis", borealis: "aurora"} {
		edit(t, site, partnerTables(t, site)[partner], fmt.Sprintf("\n[roster]\nfile = \"grid.roster\"\npublic_keys = [%q]\naccept = [\"*\"]\nmax_jobs = 5\nusers = { \"*\" = %q }\n",
			strings.TrimSpace(string(public)), account.Name))
		put(site, both)
		if err = site.Start(); err != nil {
			t.Fatal(err)
		}
	}
	runs := func() {
		linkIs(t, aurora, "borealis", "up", "")
		linkIs(t, borealis, "aurora", "up", "")
		for from, to := range map[*testbed.Site]*testbed.Site{aurora: borealis, borealis: aurora} {
			if job := g.until(t, from, g.submit(t, from, "#!/bin/sh\n", "--sites="+string(to.Name)), ended); job.State != protocol.Completed || job.Site != to.Name {
				t.Errorf("the job of %s: %+v", from.Name, job)
			}
		}
	}
	runs()

	alone := signedList(t, dir, 2, aurora)
	wantWords(t, g.at(t, aurora, "", "roster", "check", alone, "--config", aurora.Config), 0, "Roster OK: number 2, 1 sites")
	put(aurora, alone)
	wantWords(t, g.at(t, aurora, "", "reload"), 0, "removed        partner borealis")
	linkIs(t, borealis, "aurora", "down", "")
	put(aurora, both)
	wantWords(t, g.at(t, aurora, "", "reload"), 1, "serial: is 1, and a roster with 2 has counted here: an older one does not come back")
	wantWords(t, g.at(t, aurora, "", "roster", "check", both, "--config", aurora.Config), 1, "serial: is 1")
	put(aurora, signedList(t, dir, 3, aurora, borealis))
	wantWords(t, g.at(t, aurora, "", "reload"), 0, "added          partner borealis")
	runs()

	// The numbers of the roster are known without a peer.
	if err = aurora.Stop(stopPatience); err != nil {
		t.Fatal(err)
	}
	invited := filepath.Join(dir, "charon.invitation")
	wantWords(t, g.at(t, aurora, "", "invite", "charon", "--out", invited, "--number", "2", "--config", aurora.Config), 1, "2 is the number of borealis")
	got := g.at(t, aurora, "", "invite", "charon", "--out", invited, "--number", "3", "--config", aurora.Config)
	if wantWords(t, got, 0, "Invitation for site charon"); strings.Contains(got.stderr, "is not compared") {
		t.Errorf("%+v", got)
	}
}

// The signers withdraw a key that a site has in a table, while jobs run both ways. The peer goes on, is started again, takes nothing by that
// key and says so; the jobs go on, and end once the key is back.
func TestAKeyIsWithdrawn(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	aurora, borealis := g.Sites[0], g.Sites[1]
	dir := privateDir(t)
	both := text(t, signedList(t, dir, 1, aurora, borealis))
	writeText(t, filepath.Join(aurora.Dir, "grid.roster"), both)
	edit(t, aurora, "\n[policy]\n", fmt.Sprintf("\n[roster]\nfile = \"grid.roster\"\npublic_keys = [%q]\n\n[policy]\n", strings.TrimSpace(text(t, filepath.Join(dir, "grid.key.pub")))))
	for _, site := range g.Sites {
		if err := site.Start(); err != nil {
			t.Fatal(err)
		}
	}
	linkIs(t, aurora, "borealis", "up", "")
	linkIs(t, borealis, "aurora", "up", "")
	door := filepath.Join(g.work, "door")
	script := "#!/bin/sh\nwhile [ ! -e " + door + " ]; do sleep 0.05; done\n"
	there, guest := g.submit(t, aurora, script, "--sites=borealis"), g.submit(t, borealis, script, "--sites=aurora")
	g.until(t, aurora, there, running)
	g.until(t, borealis, guest, running)

	other, err := writeKey(filepath.Join(dir, "other.key"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := identity.LoadKey(filepath.Join(aurora.Dir, "site.key"))
	if err != nil {
		t.Fatal(err)
	}
	withdrawn := signedKeys(t, dir, 2, map[protocol.SiteName]string{"aurora": own.Public(), "borealis": other}, aurora, borealis)
	const words = "partner[borealis].public_key: the roster (2) has no such key for borealis, so borealis is no partner"
	wantWords(t, g.at(t, aurora, "", "roster", "check", withdrawn, "--config", aurora.Config), 0, "Roster OK: number 2", words)
	writeText(t, filepath.Join(aurora.Dir, "grid.roster"), text(t, withdrawn))
	wantWords(t, g.at(t, aurora, "", "config", "check", "--config", aurora.Config), 0, words, `warning: partner "borealis": not configured, but it has 1 open job of this site, and this site has 1 open job of it`)
	said := func() {
		t.Helper()
		linkIs(t, aurora, "borealis", "missing", "the roster (2) has no such key for borealis")
		linkIs(t, borealis, "aurora", "down", "")
		wantWords(t, g.at(t, aurora, "", "doctor", "--config", aurora.Config), 0, words)
		if job := g.until(t, aurora, there, running); job.Site != "borealis" {
			t.Errorf("the job at borealis: %+v", job)
		}
	}
	wantWords(t, g.at(t, aurora, "", "reload"), 0, "removed        partner borealis", words)
	said()
	if err = errors.Join(aurora.Kill(), aurora.Start()); err != nil {
		t.Fatal(err)
	}
	said()
	wantWords(t, g.at(t, aurora, "#!/bin/sh\n", "submit", "--sites=borealis"), 2, `site "borealis" is neither this site nor a partner of it`)

	// Of aurora the signers have another key, too. That concerns those who go by the roster: borealis does not.
	back, err := identity.LoadKey(filepath.Join(borealis.Dir, "site.key"))
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, door, "")
	ownKey := "the roster (3) has of this site, aurora, the key " + other + ", and [site] key is " + own.Public()
	wrong := signedKeys(t, dir, 3, map[protocol.SiteName]string{"aurora": other, "borealis": back.Public()}, aurora, borealis)
	wantWords(t, g.at(t, aurora, "", "roster", "check", wrong, "--config", aurora.Config), 0, "Roster OK: number 3", ownKey)
	writeText(t, filepath.Join(aurora.Dir, "grid.roster"), text(t, wrong))
	wantWords(t, g.at(t, aurora, "", "config", "check", "--config", aurora.Config), 0, ownKey)
	wantWords(t, g.at(t, aurora, "", "reload"), 0, "added          partner borealis", ownKey)
	linkIs(t, aurora, "borealis", "up", "")
	wantWords(t, g.at(t, aurora, "", "doctor", "--config", aurora.Config), 0, ownKey)
	wantWords(t, g.at(t, aurora, "", "status"), 0, ownKey)
	if err = errors.Join(aurora.Kill(), aurora.Start()); err != nil {
		t.Fatal(err)
	}
	linkIs(t, aurora, "borealis", "up", "")
	if log := text(t, aurora.Log); strings.Count(log, `"key_not_in_roster"`) != 2 {
		t.Errorf("the log has not, at the reload and at the start, that the key is not in the roster:\n%s", log)
	}
	writeText(t, filepath.Join(aurora.Dir, "grid.roster"), text(t, signedList(t, dir, 4, aurora, borealis)))
	wantWords(t, g.at(t, aurora, "", "reload"), 0)
	if got := g.at(t, aurora, "", "status"); strings.Contains(got.stdout, "the roster") {
		t.Errorf("after the roster was corrected: %s", got.stdout)
	}
	for job, at := range map[protocol.JobID]*testbed.Site{there: aurora, guest: borealis} {
		if got := g.until(t, at, job, ended); got.State != protocol.Completed {
			t.Errorf("the job of %s: %+v", at.Name, got)
		}
	}
}

// startWithRoster starts the peer of a site that accepts all sites of a roster, which a key signs.
func startWithRoster(t *testing.T, site *testbed.Site, signer *identity.Key, list roster.Roster) {
	t.Helper()
	if err := list.Sign("list", signer.Public(), identity.ValidatePublic, signer.Signer(identity.Roster)); err != nil {
		t.Fatal(err)
	}
	signed, err := list.Encode()
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, filepath.Join(site.Dir, "grid.roster"), string(signed))
	edit(t, site, "\n[policy]\n", fmt.Sprintf("\n[roster]\nfile = \"grid.roster\"\npublic_keys = [%q]\naccept = [\"*\"]\n\n[policy]\n", signer.Public()))
	if err = site.Start(); err != nil {
		t.Fatal(err)
	}
}

// A peer starts with a roster in which the keys of two sites were mixed up: its own is another site's there.
func TestARosterHasThisKeyOfAnotherSite(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1})
	aurora := g.Sites[0]
	own, err := identity.LoadKey(filepath.Join(aurora.Dir, "site.key")) // which signs, too
	if err != nil {
		t.Fatal(err)
	}
	other, err := writeKey(filepath.Join(privateDir(t), "other.key"))
	if err != nil {
		t.Fatal(err)
	}
	startWithRoster(t, aurora, own, roster.Roster{Serial: 7, End: 1 << 52, Sites: []roster.Site{
		{Name: "aurora", Number: 1, PublicKey: other}, {Name: "borealis", Number: 2, PublicKey: own.Public(), URL: "nats://127.0.0.1:1"},
	}})
	const words = "which is that of this site, so borealis is no partner"
	linkIs(t, aurora, "borealis", "missing", words)
	wantWords(t, g.at(t, aurora, "", "doctor", "--config", aurora.Config), 0, words, "[site] key is "+own.Public())
}

// A peer starts with a roster that has ended. Its sites are no partners, and sites, status and doctor say why.
func TestARosterHasEnded(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1})
	aurora := g.Sites[0]
	signer, err := identity.LoadKey(filepath.Join(aurora.Dir, "site.key")) // any key will do
	if err != nil {
		t.Fatal(err)
	}
	other, err := writeKey(filepath.Join(privateDir(t), "other.key"))
	if err != nil {
		t.Fatal(err)
	}
	startWithRoster(t, aurora, signer, roster.Roster{Serial: 7, End: 1, Sites: []roster.Site{{Name: "borealis", Number: 2, PublicKey: other, URL: "nats://127.0.0.1:1"}}})
	const words = "roster 7 ended 1970-01-01 00:00:00Z, so none of its sites is a partner but by a table with a key"
	linkIs(t, aurora, "borealis", "missing", "no partner, since roster 7 ended 1970-01-01")
	for _, args := range [][]string{{"sites"}, {"status"}, {"doctor", "--config", aurora.Config}, {"config", "check", "--config", aurora.Config}} {
		wantWords(t, g.at(t, aurora, "", args...), 0, words)
	}
}

// What signers write is checked before it is signed, and shown as it is.
func TestRosterCommands(t *testing.T) {
	t.Parallel()
	dir := privateDir(t)
	key, list, out := filepath.Join(dir, "key"), filepath.Join(dir, "list.toml"), filepath.Join(dir, "out")
	public, err := writeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(text string) result {
		writeText(t, list, text)
		return command(t, "", "", "roster", "sign", list, "--key", key, "--out", out, "--days", "1")
	}
	site := fmt.Sprintf("[[site]]\nname = \"north\"\nnumber = 1\npublic_key = %q\n", public)
	for words, text := range map[string]string{
		"serial: is 0; begin with 1":                       site,
		"sites: has 0 sites":                               "serial = 1\n",
		"sites[0].name":                                    "serial = 1\n" + strings.Replace(site, "north", "North", 1),
		"sites[1].name: duplicate, first at sites[0].name": "serial = 1\n" + site + site,
		"sites[0].url: \"http://x\" is not of the form":    "serial = 1\n" + site + "url = \"http://x\"\n",
		"unknown key":                                      "serial = 1\nkey = 1\n" + site,
	} {
		wantWords(t, sign(text), 1, words)
	}
	unchanged(t, dir, "key", "key.pub", "list.toml")
	wantWords(t, sign("serial = 4\n"+site), 0, "Roster 4 with 1 sites until ", "signed by "+public)
	wantWords(t, command(t, "", "", "roster", "show", out), 0, "Roster 4 until ", "signed by "+public, "north  1       "+public+"  -\n")
	rewrite(t, out, out, `"serial": 4`, `"serial": 5`)
	wantWords(t, command(t, "", "", "roster", "show", out), 1, "signature: is not by the key that the roster names")
	wantWords(t, command(t, "", "", "roster", "show", out+".none"), 1, "cannot be read: no such file or directory")
	n, _ := north(t)
	wantWords(t, command(t, "", "", "roster", "check", out, "--config", n), 1, "roster.public_keys: is missing")
}
