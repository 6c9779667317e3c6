package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/accounts"
	"github.com/switchyard-hpc/switchyard/peer/config"
	"github.com/switchyard-hpc/switchyard/peer/identity"
	"github.com/switchyard-hpc/switchyard/peer/rules"
	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/protocol"
)

const (
	south = "UB3AOV7WTGXIUCE46224XH5OQQN3QCFCZVLDIPKZHTRYU3HWK27LJZZQ"
	east  = "UCSL7X3DUXIOMQGWCKNHFTQ6QE5Y3BYMZSP5CQUK5E6ZILYKGAVP75AR"
	third = "UCTIZDP5TZTEXJKKXXPQBAR26FFDR54KBXNA5BRHZZ5ZFPN3NXR7Q4EQ"
	west  = "UBFLUYQEPGBR3KFONRH43GMAQNMUURU622EINITN2KQXZKURJXVXBSQI"
)

// directory writes files into a new directory.
func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

func TestFilesOfADirectoryAddUp(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"10-site.toml": `
			[site]
			name = "north"
			number = 7
			key = "keys/site.key"
			[rounds]
			local_wait_threshold = "2m"
			partners_per_round = 4
			[accounts]
			local = { root = "nobody" }`,
		"20-south.toml": "[[partner]]\nname = \"south\"\npublic_key_file = \"south.pub\"\nmax_jobs = 5\nusers = { \"*\" = \"guest\" }",
		"30-east.toml":  "[[partner]]\nname = \"east\"\npublic_key = \"" + east + "\"\nnext_public_key = \"" + third + "\"\nurl = \"nats://east:7501\"\nmax_jobs = 6\nmax_cpus = 2\n[partner.users]\nalice = \"guest1\"",
		"40-later.toml": "[rounds]\nlocal_wait_threshold = \"1h30m\"\n[accounts]\nlocal = { carol = \"c1\" }\n[localsched]\ncpus = 8\nnodes = 2\nmemory = \"2GB\"\nmachine = \"whole-node\"",
		"south.pub":     south + "\n",
		"notes.txt":     "not TOML",
	})
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %v", c.Warnings)
	}
	if want := settings.Path(filepath.Join(dir, "keys", "site.key")); c.Site.Key != want {
		t.Errorf("key: got %s, want %s", c.Site.Key, want)
	}
	if c.Rounds.LocalWaitThreshold != 90*protocol.Minute || c.Rounds.PartnersPerRound != 4 || c.Rounds.RoundJobs != 64 {
		t.Errorf("rounds: %+v", c.Rounds)
	}
	if len(c.Accounts.Local) != 2 || c.Accounts.Local["carol"] != "c1" || c.Accounts.Local["root"] != "nobody" {
		t.Errorf("accounts: %v", c.Accounts.Local)
	}
	if trusted := c.Trusted(); !slices.Equal(trusted["south"], []string{south}) || !slices.Equal(trusted["east"], []string{east, third}) || len(trusted) != 2 {
		t.Errorf("trusted: %v", trusted)
	}
	if c.Gossip != nil {
		t.Error("gossip without its table")
	}
	checkPeer(t, c)
}

// checkPeer checks what the state machine gets of the directory above.
func checkPeer(t *testing.T, c *config.Config) {
	t.Helper()
	people := accounts.New(accounts.Tables{Local: c.Accounts.Local, Guests: c.Guests()})
	p := c.Peer(config.Parts{
		PublicKey: "U", Software: "test", Capacity: c.LocalSched.Capacity(64), Accounts: people,
	})
	want := protocol.Capacity{CPUs: 8, Nodes: 2, NodeCPUs: 4, MemoryMB: 2048, WholeNode: true}
	if p.Site != "north" || p.Number != 7 || !reflect.DeepEqual(p.Capacity, want) || p.LocalWaitThreshold != 90*protocol.Minute || p.MaxGridJobs != 1_000_000 {
		t.Errorf("peer: %+v", p)
	}
	if len(p.Partners) != 2 || p.Partners[0].Site != "east" || p.Partners[0].MaxCPUs != 2 || p.Partners[1].PublicKey != south {
		t.Errorf("partners: %+v", p.Partners)
	}
	if account, err := p.Accounts.Guest("east", "alice"); err != nil || account != "guest1" {
		t.Errorf("alice of east: %q, %v", account, err)
	}
}

// What the tables about electricity and links make of the state machine.
func TestElectricityReachesThePeer(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{"site.toml": `
		[site]
		name = "north"
		number = 7
		[localsched]
		mflops = 4400
		[power]
		watts_per_cpu = 30.588624
		[prices]
		area = "DE-LU"
		feed = "file"
		config = "prices/north.toml"
		horizon = "3d"
		refresh_interval = "15m"
		[policy]
		name = "mcmf"
		[policy.mcmf]
		normalise = "round"
		weight = 0.5
		marginal_jobs = 4
		[rounds]
		cycle_interval = "30s"
		max_jobs_per_cycle = 2
		[guest_limits]
		max_owner_delay = "10m"
		max_cpu_share = 0.4
		[[partner]]
		name = "south"
		public_key = "` + south + `"
		max_jobs = 5
		users = { "*" = "guest" }
		latency = "20ms"
		bandwidth = "1Gbit/s"`})
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings: %v", c.Warnings)
	}
	p := c.Peer(config.Parts{
		Capacity: c.LocalSched.Capacity(4), Accounts: accounts.New(accounts.Tables{}), Policy: policy.Describe(c.BuiltIn("mcmf")),
	})
	if p.Area != "DE-LU" || p.Power != 30_589 || p.PriceSpan != 3*protocol.Day || p.PriceRefresh != 15*protocol.Minute {
		t.Errorf("prices: %+v", p)
	}
	if p.Capacity.Mflops != 4400 || p.Protect != (rules.Protection{Delay: 10 * protocol.Minute, Share: 400_000}) {
		t.Errorf("speed and protection: %+v", p)
	}
	if p.Initiation != policy.Cycle || p.CycleInterval != 30*protocol.Second || p.MaxJobsPerCycle != 2 || p.Policy.MarginalJobs != 4 {
		t.Errorf("cycles: %+v", p)
	}
	if one := p.Partners[0]; one.Latency != 20 || one.Bandwidth != 125_000_000 {
		t.Errorf("the link: %+v", one)
	}
	if want := settings.Path(filepath.Join(dir, "prices", "north.toml")); c.Prices.Config != want {
		t.Errorf("the feed's configuration: %s, want %s", c.Prices.Config, want)
	}
}

// Without the key the initiation suits the policy, and a file that is shown says the same.
func TestInitiationSuitsThePolicy(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]policy.Initiation{
		"tc": policy.Sender, "local": policy.Sender, "mcmf": policy.Cycle, "inst": policy.Cycle, "twoprice": policy.Cycle, "iss": policy.Cycle,
		"stable": policy.Cycle, "random": policy.Cycle,
	} {
		text := "[policy]\nname = \"" + name + "\"\n"
		if got := loaded(t, text).Rounds.Initiation; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if want = policy.Sender; loaded(t, text+"[rounds]\ninitiation = \"sender\"\n").Rounds.Initiation != want {
			t.Errorf("%s: what is written is not in force", name)
		}
	}
	mixed := loaded(t, "").With(loaded(t, "[policy]\nname = \"mcmf\"\n[policy.mcmf]\nnormalise = \"round\"\nweight = 0.75\n"))
	if mixed.Rounds.Initiation != policy.Cycle || mixed.Policy.MCMF.Weight != 750_000 {
		t.Errorf("a reload: %+v, %+v", mixed.Rounds, mixed.Policy)
	}
}

func TestAllPlacesAreReported(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"a.toml": "[site]\nname = \"north\"\nnumber = true\n[[partner]]\nname = \"south\"\n",
		"b.toml": "# two\n[rounds]\npartners_per_round = 0\n\n[[partner]]\nname = \"east\"\nurl = \"east\"\n",
	})
	_, err := config.Load(dir)
	var list problems.List
	if !errors.As(err, &list) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		"a.toml:3: site.number: ", "a.toml:4: partner[south].public_key: ",
		"b.toml:3: rounds.partners_per_round: ", "b.toml:5: partner[east].public_key: ", "b.toml:7: partner[east].url: ",
	}
	lines := strings.Split(err.Error(), "\n")
	if len(list) != len(want) || len(lines) != len(want) {
		t.Fatalf("got\n%v", err)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], filepath.Join(dir, want[i])) {
			t.Errorf("got %q, want %q", lines[i], want[i])
		}
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	seed, _, err := identity.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	dir := directory(t, map[string]string{
		"seed.toml": "[site]\nname = \"north\"\nnumber = 1\n[[partner]]\nname = \"south\"\npublic_key_file = \"south.key\"\n",
		"south.key": string(seed),
	})
	for path, want := range map[string]string{
		filepath.Join(dir, "none.toml"): "no such file",
		t.TempDir():                     "no *.toml file",
		filepath.Join(dir, "seed.toml"): "contains a secret seed",
	} {
		_, err := config.Load(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), string(seed)) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// Every configuration in examples must load, in a copy of its directory with the
// keys that its page says to make.
// notOfPeers says whether an example is for the simulator or for submit, or has a test of its
// own (cmd/switchyard).
func notOfPeers(path string) bool { return strings.Contains(path, "/iss/") }

func TestExamplesLoad(t *testing.T) {
	t.Parallel()
	found := 0
	root := filepath.Join("..", "..", "examples")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && slices.Contains([]string{"experiments", "plugins", "prices", "compose"}, entry.Name()) {
			return fs.SkipDir // for the simulator, for the plugins themselves, for price feeds, or parts: see TestBedsLoad
		}
		if err != nil || filepath.Ext(path) != ".toml" || notOfPeers(filepath.ToSlash(path)) {
			return err
		}
		found++
		dir := t.TempDir()
		if err = os.Mkdir(filepath.Join(dir, "keys"), 0o700); err != nil {
			return err
		}
		writeFile(t, filepath.Join(dir, "keys", "north.pub"), south+"\n")
		writeFile(t, filepath.Join(dir, "keys", "south.pub"), east+"\n")
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		writeFile(t, filepath.Join(dir, entry.Name()), string(text))
		c, err := config.Load(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if len(c.Warnings) > 0 {
			t.Errorf("%s: %v", path, c.Warnings)
		}
		return nil
	})
	if err != nil || found < 4 {
		t.Errorf("found %d examples, %v", found, err)
	}
}

// TestBedsLoad: the parts of a configuration that examples/compose puts together make one, without warnings.
func TestBedsLoad(t *testing.T) {
	t.Parallel()
	compose := filepath.Join("..", "..", "examples", "compose")
	network := content(t, filepath.Join(compose, "network.toml"))
	beds, err := filepath.Glob(filepath.Join(compose, "*", "common.toml"))
	if err != nil || len(beds) < 4 {
		t.Fatalf("found %d beds, %v", len(beds), err)
	}
	for _, common := range beds {
		bed := filepath.Dir(common)
		for _, site := range []string{"aurora", "borealis", "cygnus"} {
			if filepath.Base(bed) == "slurm" && site == "cygnus" {
				continue // which that has not
			}
			dir := t.TempDir()
			if prices := filepath.Join(bed, "prices"); isDir(prices) {
				if err := os.CopyFS(filepath.Join(dir, "prices"), os.DirFS(prices)); err != nil {
					t.Fatal(err)
				}
			}
			writeFile(t, filepath.Join(dir, "network.toml"), strings.ReplaceAll(network, "ADDRESS", "192.0.2.7"))
			writeFile(t, filepath.Join(dir, "common.toml"), content(t, common))
			writeFile(t, filepath.Join(dir, "site.toml"), content(t, filepath.Join(bed, site+".toml")))
			writeFile(t, filepath.Join(dir, "partners.toml"), fmt.Sprintf(
				"[[partner]]\nname = \"other\"\npublic_key = %q\nmax_jobs = 100\nusers = { \"*\" = \"gridguest\" }\n", south))
			c, err := config.Load(dir)
			if err != nil {
				t.Errorf("%s, %s: %v", bed, site, err)
			} else if len(c.Warnings) > 0 {
				t.Errorf("%s, %s: %v", bed, site, c.Warnings)
			}
		}
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
