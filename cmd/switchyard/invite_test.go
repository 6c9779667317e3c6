package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testbed"
	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/invitation"
	"github.com/switchyard-hpc/switchyard/peer/view"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Of two sites one runs and invites the other one, which has no configuration but that of its machine. When the answer is accepted, jobs
// run both ways, and neither peer was started again.
func TestASiteJoinsByInvitation(t *testing.T) {
	g := makeGrid(t, testbed.Machine{Name: "aurora", CPUs: 1}, testbed.Machine{Name: "borealis", CPUs: 1})
	aurora, borealis := g.Sites[0], g.Sites[1]
	edit(t, aurora, partnerTables(t, aurora)["borealis"], "")
	machine, err := os.ReadFile(borealis.Config)
	if err != nil {
		t.Fatal(err)
	}
	account, err := testbed.JobAccount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	aurora.Config, borealis.Config = aurora.Dir, filepath.Join(borealis.Dir, "etc")
	if err = os.Mkdir(borealis.Config, 0o755); err != nil {
		t.Fatal(err)
	}
	if err = aurora.Start(); err != nil {
		t.Fatal(err)
	}
	ready(t, aurora)
	users := []string{"--max-jobs", "5", "--user", "*=" + account.Name}
	invited, answer := filepath.Join(aurora.Dir, "borealis.invitation"), filepath.Join(aurora.Dir, "borealis.answer")
	wantWords(t, g.at(t, aurora, "", "invite", "borealis", "--out", invited, "--number", "7", "--config", aurora.Config), 0, "Invitation for site borealis until ")
	wantWords(t, g.at(t, borealis, "", append([]string{"join", invited, "--dir", borealis.Config, "--out", answer}, users...)...), 0,
		"invitation by site aurora, number 1, with the key "+publicKeyOf(t, aurora))
	rest, _, _ := strings.Cut(string(machine), "\n[[partner]]\n")
	writeText(t, filepath.Join(borealis.Config, "machine.toml"), regexp.MustCompile(`(?m)^(name +|number|key +|listen) += .*\n|^\[gossip\]\n(.+\n)*`).ReplaceAllString(rest, ""))
	if err = borealis.Start(); err != nil {
		t.Fatal(err)
	}
	ready(t, borealis)

	accept := append([]string{"accept", answer, "--invitation", invited, "--config", aurora.Config, "--reload"}, users...)
	wantWords(t, g.at(t, aurora, "", accept...), 0, "Site borealis, number 7, is a partner", "added          partner borealis\n")
	linkIs(t, aurora, "borealis", "up", "")
	linkIs(t, borealis, "aurora", "up", "")
	if job := g.until(t, aurora, g.submit(t, aurora, "#!/bin/sh\n", "--sites=borealis"), ended); job.State != protocol.Completed || job.Site != "borealis" {
		t.Errorf("the job of aurora: %+v", job)
	}
	if job := g.until(t, borealis, g.submit(t, borealis, "#!/bin/sh\n", "--sites=aurora"), ended); job.State != protocol.Completed || job.ID.Origin() != 7 {
		t.Errorf("the job of borealis: %+v", job)
	}

	// Borealis gets the keyring, and the two know each other's load although no job asks for quotes.
	ring := filepath.Join(aurora.Dir, "borealis.keyring")
	wantWords(t, g.at(t, aurora, "", "keyring", "seal", "borealis", "--out", ring, "--config", aurora.Config), 0, "Keyring for site borealis")
	at := regexp.MustCompile(`(?m)^bind += "(.*)"`).FindStringSubmatch(rest)[1]
	wantWords(t, g.at(t, borealis, "", "keyring", "open", ring, "--config", borealis.Config, "--bind", at, "--advertise", at), 0, "gossip.keys. The peer gossips")
	for _, site := range []*testbed.Site{aurora, borealis} { // so that neither remembers a quote
		if err = site.Stop(stopPatience); err != nil {
			t.Fatal(err)
		}
	}
	if err = errors.Join(aurora.Start(), borealis.Start()); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]*testbed.Site{{aurora, borealis}, {borealis, aurora}} {
		linkIs(t, pair[0], pair[1].Name, "up", "") // by which it knows the other's number
		seen(t, pair[0], "the load of "+string(pair[1].Name), func(s view.Site) bool { return s.Site == pair[1].Name && s.Age != nil })
	}
	wantWords(t, g.at(t, aurora, "", accept...), 1, "borealis is a [[partner]] of site aurora already")
	for _, site := range []*testbed.Site{borealis, aurora} { // aurora has not been linked with it since it was started
		if err = site.Stop(stopPatience); err != nil {
			t.Fatal(err)
		}
	}
	if err = aurora.Start(); err != nil {
		t.Fatal(err)
	}
	ready(t, aurora)
	wantWords(t, g.at(t, aurora, "", "invite", "charon", "--out", invited+"2", "--number", "7", "--config", aurora.Config), 1, "7 is the number of borealis")
}

// TestNumbersOfPartners: an invitation names no number that a partner has as the peer knows, and says whose numbers it does not know.
func TestNumbersOfPartners(t *testing.T) {
	t.Parallel()
	n, _ := north(t)
	for _, name := range []string{"east", "west"} {
		_, public, err := identity.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, filepath.Join(n, name+".toml"), fmt.Sprintf("[[partner]]\nname = %q\nurl = \"nats://%s.example.org:7501\"\npublic_key = %q\nmax_jobs = 1\nusers = { \"*\" = \"nobody\" }\n", name, name, public))
	}
	socket := serve(t, &fakeNode{sites: []view.Site{{Site: "north", Number: 1, Self: true}, {Site: "east", Number: 3, Link: "down"}, {Site: "west", Link: "down"}}})
	invite := func(socket, number string) result {
		return command(t, socket, "", "invite", "south", "--out", filepath.Join(privateDir(t), "invitation"), "--url", "nats://north.example.org:7501", "--number", number, "--config", n)
	}
	wantWords(t, invite(socket, "3"), 1, "3 is the number of east; each site of a grid has its own")
	wantWords(t, invite(socket, "2"), 0, "warning: 2 is not compared with the numbers of these partners, since the peer has not been linked with them yet: west. If ")
	wantWords(t, invite(filepath.Join(n, "none"), "3"), 0, "since the peer does not say them: ", ": east, west. If ")
}

// north is the directory of a site that can be reached at a URL, and its key.
func north(t *testing.T) (dir string, key *identity.Key) {
	t.Helper()
	dir = privateDir(t)
	writeText(t, filepath.Join(dir, "north.toml"), fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\nkey = \"site.key\"\nstate_dir = \"state\"\nsocket = %q\n",
		filepath.Join(dir, "s")))
	if _, err := writeKey(filepath.Join(dir, "site.key")); err != nil {
		t.Fatal(err)
	}
	key, err := identity.LoadKey(filepath.Join(dir, "site.key"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, key
}

// joined are two sites of which the one has invited the other one, which has answered.
type joined struct{ north, south, invitation, answer string }

func inviteAndJoin(t *testing.T) joined {
	t.Helper()
	n, _ := north(t)
	j := joined{north: n, south: privateDir(t), invitation: filepath.Join(privateDir(t), "invitation"), answer: filepath.Join(t.TempDir(), "answer")}
	wantWords(t, command(t, "", "", "invite", "south", "--out", j.invitation, "--url", "nats://north.example.org:7501", "--number", "2", "--config", n), 0)
	wantWords(t, command(t, "", "", "join", j.invitation, "--dir", j.south, "--out", j.answer), 0, "wrote ")
	return j
}

func (j *joined) accept(t *testing.T) result {
	t.Helper()
	return command(t, filepath.Join(j.north, "s"), "", "accept", j.answer, "--invitation", j.invitation, "--config", j.north)
}

// What join and accept write is a valid configuration, and none of it can be read that is secret.
func TestWhatJoinWrites(t *testing.T) {
	t.Parallel()
	j := inviteAndJoin(t)
	wantWords(t, j.accept(t), 0, "The peer learns of it by: switchyard reload")
	for _, dir := range []string{j.north, j.south} {
		wantWords(t, command(t, "", "", "config", "check", "--config", dir), 0, "Configuration OK")
	}
	for path, mode := range map[string]os.FileMode{j.invitation: 0o600, filepath.Join(j.south, "site.key"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}

	// A second partner invites the same site, which keeps its key and adds a table.
	east, _ := north(t)
	rewrite(t, filepath.Join(east, "north.toml"), filepath.Join(east, "north.toml"), `"north"`, `"east"`, "number = 1", "number = 3")
	second := filepath.Join(east, "invitation")
	wantWords(t, command(t, "", "", "invite", "south", "--out", second, "--url", "nats://east.example.org:7501", "--config", east), 0)
	before, err := os.ReadFile(filepath.Join(j.south, "site.toml"))
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, command(t, "", "", "join", second, "--dir", j.south, "--url", "nats://south.example.org:7501"), 2, "the site does not listen; add --listen")
	wantWords(t, command(t, "", "", "join", second, "--dir", j.south, "--listen", "0.0.0.0:7501"), 2, "set [nats] listen there")
	got := command(t, "", "", "join", second, "--dir", j.south)
	if after, err := os.ReadFile(filepath.Join(j.south, "site.toml")); got.code != 0 || !strings.Contains(got.stdout, `"number": 2`) || err != nil || string(after) != string(before) {
		t.Errorf("%+v, %v: %s", got, err, after)
	}
	wantWords(t, command(t, "", "", "config", "show", "--config", j.south), 0, "partner-east.toml", "partner-north.toml")
}

// A site of which only a package has been installed joins without an edit: the sample of the package is put aside.
func TestJoinAfterAPackage(t *testing.T) {
	t.Parallel()
	j := inviteAndJoin(t)
	dir := privateDir(t)
	sample := filepath.Join(dir, "switchyard.toml")
	writeText(t, sample, config.Sample())
	if _, err := writeKey(filepath.Join(dir, "site.key")); err != nil {
		t.Fatal(err)
	}
	wantWords(t, command(t, "", "", "join", j.invitation, "--dir", dir, "--user", "*=root"), 1, "is mapped to root")
	unchanged(t, dir, "site.key", "site.key.pub", "switchyard.toml")
	writeText(t, sample+".sample", "")
	wantWords(t, command(t, "", "", "join", j.invitation, "--dir", dir), 1, "switchyard.toml.sample: exists already")
	if err := os.Remove(sample + ".sample"); err != nil {
		t.Fatal(err)
	}
	wantWords(t, command(t, "", "", "join", j.invitation, "--dir", dir), 0, sample+" was the sample, unchanged, and is now "+sample+".sample")
	unchanged(t, dir, "partner-north.toml", "site.key", "site.key.pub", "site.toml", "switchyard.toml.sample")
	wantWords(t, command(t, "", "", "config", "check", "--config", dir), 0, "Configuration OK: site south.")
}

// A site with Slurm has it from the start: without --slurm join says that the built-in scheduler is used.
func TestJoinWithSlurm(t *testing.T) {
	bin := privateDir(t)
	for _, name := range []string{"sbatch", "squeue", "sinfo", "scontrol", "scancel"} {
		testprogram.Write(t, filepath.Join(bin, name), "#!/bin/sh\n[ \"$1\" = --version ] && exec echo slurm 22.05.8\n"+
			"echo PartitionName=batch State=UP Default=YES MaxTime=UNLIMITED\n")
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	n, _ := north(t)
	invited, south := filepath.Join(privateDir(t), "invitation"), privateDir(t)
	wantWords(t, command(t, "", "", "invite", "south", "--out", invited, "--url", "nats://north.example.org:7501", "--number", "2", "--config", n), 0)
	wantWords(t, command(t, "", "", "join", invited, "--dir", south, "--slurm"), 2, "missing --spool DIR")
	wantWords(t, command(t, "", "", "join", invited, "--dir", south, "--spool", "/shared"), 2, "add --slurm")
	got := command(t, "", "", "join", invited, "--dir", south, "--slurm", "--spool", "/shared", "--slurm-conf", "/no-such/slurm.conf")
	wantWords(t, got, 0, "local scheduler: slurm, which says at the start")
	wantWords(t, command(t, "", "", "config", "show", "--config", south), 0, `plugin = "slurm"`, `spool = "/shared"`, `conf = "/no-such/slurm.conf"`)
	wantWords(t, command(t, "", "", "join", invited, "--dir", south, "--slurm", "--spool", "/shared"), 2, "has a configuration already; set [localsched] there")
	wantWords(t, command(t, "", "", "join", invited, "--dir", privateDir(t)), 0, "local scheduler: process, the built-in one, with the ")
}

// unchanged fails if there are other files in the directory than before.
func unchanged(t *testing.T, dir string, before ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	var names []string
	for _, one := range entries {
		names = append(names, one.Name())
	}
	if err != nil || strings.Join(names, " ") != strings.Join(before, " ") {
		t.Errorf("%s has %q, %v; before %q", dir, names, err, before)
	}
}

// A refused answer leaves no table behind.
func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	replace := func(words ...string) func(*testing.T, *joined) {
		return func(t *testing.T, j *joined) {
			t.Helper()
			rewrite(t, j.answer, j.answer, words...)
		}
	}
	for name, c := range map[string]struct {
		change func(*testing.T, *joined)
		words  string
	}{
		"changed":    {replace(`"number": 2`, `"number": 3`), "answer: code: was not made with the secret of the invitation"},
		"other site": {replace(`"south"`, `"east"`), "answer: by.site: is east, and the invitation is for south"},
		"to another": {func(t *testing.T, j *joined) {
			t.Helper()
			other := inviteAndJoin(t)
			j.answer = other.answer
		}, "is another invitation than"},
		"at another site": {func(t *testing.T, j *joined) {
			t.Helper()
			j.north, _ = north(t)
		}, "is an invitation by site north, number 1, with the key"},
		"none": {func(t *testing.T, j *joined) {
			t.Helper()
			j.answer += ".none"
		}, "answer.none cannot be read: no such file or directory"},
		"endless": {func(t *testing.T, j *joined) {
			t.Helper()
			j.answer = "/dev/zero"
		}, "/dev/zero: has more than 4096 bytes"},
		"readable": {func(t *testing.T, j *joined) {
			t.Helper()
			if err := os.Chmod(j.invitation, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "chmod 600"},
		"invitation changed": {func(t *testing.T, j *joined) {
			t.Helper()
			rewrite(t, j.invitation, j.invitation, `"for": "south"`, `"for": "east"`)
		}, "invitation: signature: is not by the key"},
		"key of a partner": {func(t *testing.T, j *joined) {
			t.Helper()
			public, err := os.ReadFile(filepath.Join(j.south, "site.key.pub"))
			if err != nil {
				t.Fatal(err)
			}
			writeText(t, filepath.Join(j.north, "other.toml"), fmt.Sprintf("[[partner]]\nname = \"west\"\npublic_key = %q\n", strings.TrimSpace(string(public))))
		}, "duplicate key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := inviteAndJoin(t)
			c.change(t, &j)
			wantWords(t, j.accept(t), 1, c.words)
			if _, err := os.Lstat(filepath.Join(j.north, "partner-south.toml")); err == nil {
				t.Error("the table was written")
			}
		})
	}
}

// An answer counts once, also when the partner's table is removed before the invitation ends; what says so goes after that end, and is not
// written for an answer that is refused.
func TestAnswersCountOnce(t *testing.T) {
	t.Parallel()
	j := inviteAndJoin(t)
	table := filepath.Join(j.north, "partner-south.toml")
	usedFiles := func() int {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(j.north, usedPrefix+"*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	broken := filepath.Join(j.north, "broken.toml")
	writeText(t, broken, "[[partner]]\nname = \"west\"\npublic_key = \"U\"\n")
	if got := j.accept(t); got.code != 1 || usedFiles() != 0 {
		t.Errorf("with a broken configuration %d invitations are used: %+v", usedFiles(), got)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	writeText(t, usedFile(j.north, "0"), "{\"site\":\"west\",\"end_ms\":1}\n") // of one that has ended
	wantWords(t, j.accept(t), 0, "is a partner")
	if n := usedFiles(); n != 1 {
		t.Errorf("%d invitations are used", n)
	}
	if err := os.Remove(table); err != nil {
		t.Fatal(err)
	}
	wantWords(t, j.accept(t), 1, "says that this invitation has been used already; make a new one with: switchyard invite south")
	if _, err := os.Lstat(table); err == nil {
		t.Error("the table was written")
	}
	wantWords(t, command(t, "", "", "config", "check", "--config", j.north), 0, "Configuration OK")
}

// An invitation that is refused leaves nothing behind, and all that is wrong with it is said at once.
func TestInvitationsThatAreRefused(t *testing.T) {
	t.Parallel()
	_, key := north(t)
	made := func(t *testing.T, number protocol.SiteNumber, end protocol.Instant) (path string) {
		t.Helper()
		v := invitation.New([invitation.IDBytes]byte{}, [invitation.SecretSize]byte{})
		v.By = invitation.Site{Name: "north", Number: 1, PublicKey: key.Public(), URL: "nats://north.example.org:7501"}
		v.For, v.Number, v.End = "south", number, end
		err := v.Sign(key.Signer(identity.Invitation))
		text, wrong := v.Encode()
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		path = filepath.Join(privateDir(t), "invitation")
		if err = os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const never = 1 << 52 // the end of an invitation that does not end while a test runs
	wantWords(t, command(t, "", "", "join", made(t, 2, never), "--dir", privateDir(t), "--listen", "0.0.0.0:7501"), 0, "warning: the answer has no URL")
	dir := privateDir(t)
	wantWords(t, command(t, "", "", "join", made(t, 2, 1), "--dir", dir), 1, "the invitation of north for south ended 1970-01-01 00:00:00Z; ask for a new one")
	wantWords(t, command(t, "", "", "join", made(t, 0, never), "--dir", dir), 1, "the invitation leaves the number of the site open")
	wantWords(t, command(t, "", "", "join", made(t, 2, never), "--dir", dir, "--number", "3"), 1, "is 3, and the invitation is for number 2")
	wantWords(t, command(t, "", "", "join", made(t, 2, never), "--dir", dir, "--user", "*=root"), 1, "is mapped to root")
	unchanged(t, dir)
	writeText(t, filepath.Join(dir, "site.key.pub"), "")
	out := filepath.Join(dir, "answer")
	writeText(t, out, "")
	wantWords(t, command(t, "", "", "join", made(t, 0, never), "--dir", dir, "--out", out), 1, "answer: exists already", "site.key.pub: exists already", "number of the site open")
	unchanged(t, dir, "answer", "site.key.pub")

	other, _ := north(t)
	wantWords(t, command(t, "", "", "join", made(t, 2, never), "--dir", other), 1, "is the configuration of site north, and the invitation is for south", "has [site] number = 1")
	for words, args := range map[string][]string{
		"missing --url nats://HOST:PORT": {"south"},
		"must begin with a lower case":   {"South", "--url", "nats://north.example.org:7501"},
		"is not of the form nats://":     {"south", "--url", "http://north.example.org:7501"},
		"is the site that invites":       {"north", "--url", "nats://north.example.org:7501"},
	} {
		got := command(t, "", "", append([]string{"invite", "--out", out + "2", "--config", other}, args...)...)
		if got.code == 0 || !strings.Contains(got.stderr, words) {
			t.Errorf("%s: %+v", words, got)
		}
	}
	unchanged(t, dir, "answer", "site.key.pub")
	wantWords(t, command(t, "", "", "invite", "accept", "--out", out+"3", "--config", other, "--url", "nats://north.example.org:7501"), 0, "Invitation for site accept until ")
}

// Sites that meet at a NATS system of their own are invited to that, and show themselves there by files that no invitation has.
func TestJoinWhereSitesMeet(t *testing.T) {
	t.Parallel()
	n, _ := north(t)
	writeText(t, filepath.Join(n, "nats.toml"), "[nats]\nurl = \"tls://nats.example.org:4222\"\n")
	invited := filepath.Join(privateDir(t), "invitation")
	wantWords(t, command(t, "", "", "invite", "south", "--out", invited, "--url", "tls://nats1.example.org:4222,nowhere", "--config", n), 2, "--url:", "is not of the form nats://")
	wantWords(t, command(t, "", "", "invite", "south", "--out", invited, "--number", "2", "--config", n), 0, "Invitation for site south")
	south := privateDir(t)
	seed := filepath.Join(south, "nats.nkey")
	if _, err := writeKey(seed); err != nil {
		t.Fatal(err)
	}
	join := func(dir string, args ...string) result {
		return command(t, "", "", append([]string{"join", invited, "--dir", dir, "--out", filepath.Join(n, "answer")}, args...)...)
	}
	wantWords(t, join(south, "--listen", "0.0.0.0:7501"), 2, "the sites of the grid meet at tls://nats.example.org:4222")
	wantWords(t, join(south, "--nats", "user=x"), 2, `--nats: unknown key "user"`)
	wantWords(t, join(south, "--nats", "nkey="+seed+".none"), 1, "nats.nkey.none")
	wantWords(t, join(south, "--nats", "nkey="+seed, "--nats", "token="+seed), 1, "exclude each other")
	unchanged(t, south, "nats.nkey", "nats.nkey.pub")
	wantWords(t, join(south, "--nats", "nkey="+seed), 0, "wrote ")
	wantWords(t, command(t, "", "", "config", "show", "--config", south), 0, `"tls://nats.example.org:4222"`, seed)
	wantWords(t, command(t, filepath.Join(n, "s"), "", "accept", filepath.Join(n, "answer"), "--invitation", invited, "--config", n), 0, "Site south, number 2, is a partner")
	for _, dir := range []string{n, south} {
		wantWords(t, command(t, "", "", "config", "check", "--config", dir), 0, "Configuration OK")
	}

	// A site with a configuration meets there too, or not.
	other := inviteAndJoin(t)
	wantWords(t, command(t, "", "", "join", invited, "--dir", other.south), 1, "has no [nats] url, and the sites of the grid of north meet at tls://nats.example.org:4222")
	wantWords(t, command(t, "", "", "join", other.invitation, "--dir", privateDir(t), "--nats", "nkey="+seed), 2, "--nats: the sites of this grid connect to each other")
	wantWords(t, command(t, "", "", "join", other.invitation, "--dir", south), 1, "has [nats] url, at which a site meets all its partners")
}
