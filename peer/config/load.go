package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-hpc/switchyard/internal/passwd"
	"github.com/switchyard-hpc/switchyard/internal/settings"
	"github.com/switchyard-hpc/switchyard/peer/identity"
)

// DefaultDir is where [Load] looks when it is given no paths.
const DefaultDir = "/etc/switchyard"

// Load reads the configuration from files, and from the *.toml files of directories
// in the order of their names; without paths, from [DefaultDir]. A key that
// stands in several files has the value of the last; partners add up, also those of the roster. The error
// is of type [problems.List].
func Load(paths ...string) (*Config, error) {
	c := newChecker()
	c.read(paths)
	return c.finish()
}

// LoadWithRoster is [Load] with another file in place of [roster] file, which need not be there.
func LoadWithRoster(roster string, paths ...string) (*Config, error) {
	c := newChecker()
	c.read(paths)
	c.config.Roster.File = settings.Path(roster)
	return c.finish()
}

// LoadElsewhere is [Load] on another computer than the site's: the public keys of partners
// are not read from their files, and accounts not looked up.
func LoadElsewhere(paths ...string) (*Config, error) {
	c := newChecker()
	c.elsewhere, c.uidOf = true, noUID
	c.read(paths)
	return c.finish()
}

// read reads the files of the paths, or of [DefaultDir].
func (r *checker) read(paths []string) {
	if len(paths) == 0 {
		paths = []string{DefaultDir}
	}
	for _, file := range r.find(paths) {
		r.File(file)
	}
}

func newChecker() *checker {
	c := Default()
	return &checker{Reader: settings.NewReader(c), config: c, uidOf: (&lookUps{byName: passwd.ByName, within: lookUpTime}).uid}
}

// lookUpTime bounds what a configuration waits for a directory service, for all its accounts together: a reload
// waits for it.
const lookUpTime = 10 * time.Second

// lookUps finds the user ids of accounts, asks about each once, and for no longer than a time about all.
type lookUps struct {
	byName func(context.Context, string) (passwd.Entry, error)
	within time.Duration
	end    time.Time // once the first is looked up
	known  map[string]foundUID
}

// foundUID is the user id of an account, or why there is none.
type foundUID struct {
	uid uint32
	err error
}

func (l *lookUps) uid(account string) (uint32, error) {
	if has, asked := l.known[account]; asked {
		return has.uid, has.err
	}
	if l.end.IsZero() {
		l.known, l.end = make(map[string]foundUID), time.Now().Add(l.within)
	}
	ctx, stop := context.WithDeadline(context.Background(), l.end)
	defer stop()
	found, err := l.byName(ctx, account)
	l.known[account] = foundUID{found.UID, err}
	return found.UID, err
}

// noUID looks no account up.
func noUID(string) (uint32, error) { return 0, passwd.ErrUnknown }

// finish checks what was read.
func (r *checker) finish() (*Config, error) {
	if !r.elsewhere {
		r.resolveKeys()
	}
	if !r.Broken() {
		r.addRoster()
	}
	// What stands in a file that could not be read would be reported as missing.
	if !r.Broken() {
		r.check()
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	r.config.Warnings, r.config.places = r.Warnings(), r.Places()
	return r.config, nil
}

// find lists the files that the paths stand for.
func (r *checker) find(paths []string) (files []string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.Reject(path, 0, "no such file or directory; begin with: switchyard config sample")
		case err != nil:
			r.Reject(path, 0, settings.Unreadable(err))
		case !info.IsDir():
			files = append(files, filepath.Clean(path))
		default:
			inside, err := tomlFiles(path)
			switch {
			case err != nil:
				r.Reject(path, 0, settings.Unreadable(err))
			case len(inside) == 0:
				r.Reject(path, 0, "this directory has no *.toml file; begin with: switchyard config sample")
			}
			files = append(files, inside...)
		}
	}
	return files
}

// tomlFiles lists the files *.toml of a directory in their order.
func tomlFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".toml") {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	return files, err
}

// resolveKeys reads the partners' public keys that stand in files of their own.
func (r *checker) resolveKeys() {
	places := r.Places()
	for i := range r.config.Partners {
		p := &r.config.Partners[i]
		key := fmt.Sprintf("partner[%d].public_key_file", i)
		if p.PublicKeyFile == "" || p.PublicKey != "" { // both: check says so
			continue
		}
		public, err := readPublicKey(string(p.PublicKeyFile))
		if err != nil {
			r.Problem(key, "%v", err)
			continue
		}
		p.PublicKey, p.PublicKeyFile = public, ""
		places[fmt.Sprintf("partner[%d].public_key", i)] = places[key]
		delete(places, key)
	}
}

// readPublicKey reads the file that "switchyard keygen" writes beside a key.
func readPublicKey(path string) (public string, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist; ask the partner for the .pub file that \"switchyard keygen\" wrote there", path)
	}
	if err != nil {
		return "", fmt.Errorf("%s %s", path, settings.Unreadable(err))
	}
	defer file.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	if err != nil {
		return "", fmt.Errorf("%s %s", path, settings.Unreadable(err))
	}
	public = strings.TrimSpace(string(text))
	if settings.Secret(public) {
		return "", fmt.Errorf("%s contains a secret seed; set the .pub file of the same key, and keep the seed at its own site", path)
	}
	if identity.ValidatePublic(public) != nil {
		return "", fmt.Errorf("%s contains no valid public key; a public key starts with U and has 56 characters", path)
	}
	return public, nil
}
