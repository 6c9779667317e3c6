package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/testprogram"
	"github.com/switchyard-hpc/switchyard/peer/gossip"
	"github.com/switchyard-hpc/switchyard/peer/identity"
)

// siteKey is the file of a new key that a peer would use.
func siteKey(t *testing.T) (path string) {
	t.Helper()
	seed, _, err := identity.GenerateKey()
	path = filepath.Join(privateDir(t), "site.key")
	if err == nil {
		err = identity.SaveKey(path, seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// privateDir is a folder in which nobody else can put files.
func privateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Keys and secrets that a peer would refuse are found, and so are accounts that this machine lacks.
func TestConfigCheckFindsWhatAStartWould(t *testing.T) {
	t.Parallel()
	key, ring := siteKey(t), filepath.Join(privateDir(t), "ring")
	writeText(t, ring, gossip.NewKey()+"\n")
	if err := os.Chmod(ring, 0o600); err != nil {
		t.Fatal(err)
	}
	open := siteKey(t)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	const issuer = "key = %q\n[api]\nlisten = \"127.0.0.1:7\"\n[[api.oidc]]\nname = \"hpc\"\nissuer = \"https://login.example.org\"\naudience = \"switchyard\"\nca_file = %q\n" +
		"[[api.oidc.user]]\ngroup = \"hpc\"\nscopes = [\"read\"]\n"
	for name, c := range map[string]struct {
		text string
		want string // empty: nothing is wrong
	}{
		"right": {fmt.Sprintf("key = %q\n[gossip]\nbind = \"127.0.0.1:7\"\nkeyring = %q\n", key, ring), ""},
		"device that is absent": {
			fmt.Sprintf("key = %q\n[localsched.devices.gpu]\nfiles = [\"/dev/zero\", \"/nowhere/gpu\"]\n", key),
			"switchyard: [localsched.devices] gpu: /nowhere/gpu does not exist; load the driver of the device, or remove the file",
		},
		"no key": {
			fmt.Sprintf("key = %q\n", key+".none"), "switchyard: [site] key: key file " + key + ".none does not exist; make one with: switchyard keygen",
		},
		"key that others can read": {fmt.Sprintf("key = %q\n", open), "can be used by others (mode 0644); run: chmod 600 " + open},
		"keyring without a key":    {fmt.Sprintf("key = %q\n[gossip]\nbind = \"127.0.0.1:7\"\nkeyring = %q\n", key, key), "switchyard: [gossip] keyring: "},
		"no token":                 {fmt.Sprintf("key = %q\n[nats]\nurl = \"nats://127.0.0.1:7\"\ntoken = %q\n", key, ring+".none"), "[nats] token file " + ring + ".none is not used"},
		"secret that others can read": {
			fmt.Sprintf("key = %q\n[api]\nlisten = \"127.0.0.1:7\"\n[[api.oidc]]\nname = \"hpc\"\nissuer = \"https://login.example.org\"\naudience = \"switchyard\"\nsign_in_client = \"pages\"\nsign_in_secret_file = %q\n"+
				"[[api.oidc.user]]\ngroup = \"hpc\"\nscopes = [\"read\"]\n", key, open),
			"switchyard: [[api.oidc]] hpc sign_in_secret_file: " + open + " can be used by others",
		},
		"authority of an issuer that is absent": {
			fmt.Sprintf(issuer, key, key+".none"), "switchyard: [[api.oidc]] hpc ca_file: open " + key + ".none: no such file or directory",
		},
		"authority of an issuer that is none": {
			fmt.Sprintf(issuer, key, key), "switchyard: [[api.oidc]] hpc ca_file: read " + key + ": the file has no certificate in PEM",
		},
		"authority of clients that is absent": {
			fmt.Sprintf("key = %q\n[api]\nlisten = \"127.0.0.1:7\"\nclient_ca_file = %q\n[[api.client]]\ncertificate = \"dns:ann.example.org\"\nuser = \"ann\"\nscopes = [\"read\"]\n", key, key+".none"),
			"switchyard: [api] client_ca_file: open " + key + ".none: no such file or directory",
		},
		"certificate that is none": {
			fmt.Sprintf("key = %q\n[api]\nlisten = \"127.0.0.1:7\"\ncert_file = %q\nkey_file = %q\n", key, key, key), "switchyard: [api] cert_file and key_file: ",
		},
		"local user": {
			fmt.Sprintf("key = %q\n[accounts.local]\nann = \"no-such-account\"\n", key),
			`[accounts] local: user "ann" is mapped to account "no-such-account": this machine has no such account; make the account, or name another one`,
		},
	} {
		got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", "[site]\nname = \"north\"\nnumber = 1\n"+c.text))
		switch {
		case c.want == "" && (got.code != 0 || !strings.HasPrefix(got.stdout, "Configuration OK: site north.\nLocal scheduler: process, the built-in one, with the ")):
			t.Errorf("%s: %+v", name, got)
		case c.want != "" && (got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, c.want)):
			t.Errorf("%s: got %+v, want %q", name, got, c.want)
		}
	}
}

// The sources and the areas of prices are looked at where no power budget goes by them, too.
func TestConfigCheckLooksAtPrices(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), siteKey(t)
	feed := filepath.Join(dir, "feed.toml")
	writeText(t, feed, "[[file]]\npath = \"prices.csv\"\nformat = \"csv\"\narea = \"NO1\"\ncurrency = \"NOK\"\nunit = \"MWh\"\nslot = \"1h\"\n")
	check := func(area, want string) {
		t.Helper()
		site := fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\nkey = %q\n[power]\nwatts_per_cpu = 30\n"+
			"[prices]\narea = %q\nfeed = \"file\"\nconfig = %q\n", key, area, feed)
		got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", site))
		if (got.code == 0) != (want == "") || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: got %+v, want %q", area, got, want)
		}
	}
	check("NO1", "prices.csv: no such file")
	writeText(t, filepath.Join(dir, "prices.csv"), "start,price\n2026-01-01T00:00:00Z,5\n2026-01-01T01:00:00Z,6\n")
	check("NO1", "")
	check("NO2", `[prices] area: jobs are placed by it: the feed does not know this area: "NO2"; there are NO1`)
}

// A policy that cannot speak TLS is found, and what mends it.
func TestConfigCheckStartsPlugins(t *testing.T) {
	t.Parallel()
	plugin := filepath.Join(privateDir(t), "plain")
	script := "#!/bin/sh\n" + `echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/s|grpc|"` + "\nexec sleep 1000\n" // until it is killed
	testprogram.Write(t, plugin, script)
	site := fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\nkey = %q\n[policy]\nname = \"mine\"\n"+
		"[[plugin]]\nname = \"mine\"\nkind = \"policy\"\npath = %q\n", siteKey(t), plugin)
	got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", site))
	want := "switchyard: [[plugin]] mine: it does not come up: "
	if got.code != 1 || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "set mtls = false in its [[plugin]]") {
		t.Errorf("got %+v", got)
	}
}

// A Slurm that the adapter does not support is found without its controller.
func TestConfigCheckFindsOldSlurm(t *testing.T) {
	t.Parallel()
	bin := privateDir(t)
	for _, name := range []string{"sbatch", "squeue", "sinfo", "scontrol", "scancel"} {
		testprogram.Write(t, filepath.Join(bin, name), "#!/bin/sh\necho slurm 19.05.5\n")
	}
	site := fmt.Sprintf("[site]\nname = \"north\"\nnumber = 1\nkey = %q\n[localsched]\nplugin = \"slurm\"\n[localsched.slurm]\nbin_dir = %q\n", siteKey(t), bin)
	got := command(t, "", "", "config", "check", "--config", tempFile(t, "site.toml", site))
	if want := "switchyard: [localsched.slurm]: this Slurm is version 19.05.5, which is too old"; got.code != 1 || !strings.Contains(got.stderr, want) {
		t.Errorf("got %+v", got)
	}
}
