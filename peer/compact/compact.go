// Package compact keeps in memory what jobs run. Jobs may wait by the hundred thousand, and most of
// what a user submits is alike: the script, some fifty variables of the environment, names. So each
// is kept once, and of an environment only what differs from that of the same user's job before.
package compact

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/peer/row"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// Payload is what a job runs. Its file names are those of the job's row. The zero Payload is none.
type Payload struct {
	*content

	args []string
}

// content is the part of a payload that jobs share. It never changes.
type content struct {
	script string
	env    []string // NAME=value; shared
	other  []variable
	shell  *protocol.Shell // shared; never changes
	rest   *rest           // nil: the files are those of the job's row, and nothing else was asked for
}

// variable stands in an environment in place of the one at an index.
type variable struct {
	at   int
	pair string
}

// rest is what of a payload is neither script, arguments nor environment.
type rest struct {
	workDir, stdout, stderr, input string

	appendOutput bool
	limitSignal  protocol.LimitSignal
	staging      *protocol.Staging // never changes
}

// maxOther is how many variables of an environment may differ from another one's that is kept
// in its place.
const maxOther = 8

// None says that nothing was packed.
func (k Payload) None() bool { return k.content == nil }

// Files is what was packed without the script, its arguments and its environment, of the job with a row.
func (k Payload) Files(of *row.Job) *protocol.Payload {
	other := rest{workDir: of.WorkDir, stdout: of.Stdout, stderr: of.Stderr}
	if k.content != nil && k.rest != nil {
		other = *k.rest
	}
	return &protocol.Payload{
		WorkDir: other.workDir, Stdout: other.stdout, Stderr: other.stderr, Input: other.input,
		AppendOutput: other.appendOutput, LimitSignal: other.limitSignal, Staging: other.staging,
	}
}

// Unpack is what was packed, of the job with a row.
func (k Payload) Unpack(of *row.Job) *protocol.Payload {
	out := k.Files(of)
	out.Args, out.Env, out.Shell = k.args, k.env, k.shell
	if k.script != "" {
		out.Script = []byte(k.script)
	}
	if len(k.other) > 0 {
		out.Env = slices.Clone(out.Env)
		for _, v := range k.other {
			out.Env[v.at] = v.pair
		}
	}
	return out
}

// Owner says by an environment whose it is, if it does.
func Owner(env []string) string {
	i := slices.IndexFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "USER=") })
	if i < 0 {
		return ""
	}
	return env[i]
}

// Store keeps one copy of what many jobs have alike. What it keeps besides that of jobs is bounded. The
// zero Store is empty.
type Store struct {
	texts map[string]string
	sites map[string][]protocol.SiteName
	bytes int // of both

	last      map[string]*content // by user
	lastBytes int                 // since it was empty
}

// Bounds of what is kept, in bytes.
const (
	maxText = 1 << 20
	maxLast = 8 << 20
)

// room makes room for more bytes by dropping all that is kept.
func (a *Store) room(bytes int) {
	if a.bytes += bytes; a.texts == nil || a.bytes > maxText {
		a.texts, a.sites, a.bytes = map[string]string{}, map[string][]protocol.SiteName{}, bytes
	}
}

// Text is an equal text that others may have, too.
func (a *Store) Text(s string) string {
	if same, ok := a.texts[s]; ok || s == "" {
		return same
	}
	if len(s) > maxText {
		return s
	}
	a.room(len(s))
	a.texts[s] = s
	return s
}

func (a *Store) siteNames(sites []protocol.SiteName) []protocol.SiteName {
	if len(sites) == 0 {
		return sites
	}
	var key strings.Builder
	for _, site := range sites {
		key.WriteString(string(site))
		key.WriteByte(0)
	}
	if same, ok := a.sites[key.String()]; ok {
		return same
	}
	a.room(2 * key.Len())
	a.sites[key.String()] = sites
	return sites
}

// Row has a job's row share what it can.
func (a *Store) Row(stored *row.Job) {
	stored.Spec.Name, stored.Spec.User = a.Text(stored.Spec.Name), a.Text(stored.Spec.User)
	stored.Spec.Account, stored.Spec.Partition, stored.Spec.QOS = a.Text(stored.Spec.Account), a.Text(stored.Spec.Partition), a.Text(stored.Spec.QOS)
	stored.Spec.Sites = a.siteNames(stored.Spec.Sites)
	stored.Reason = a.Text(stored.Reason)
	stored.Site = protocol.SiteName(a.Text(string(stored.Site)))
	if stored.Stderr == stored.Stdout { // most jobs have one file for both: one text in memory as well
		stored.Stderr = stored.Stdout
	}
}

// Pack keeps what a job of a user runs.
func (a *Store) Pack(user string, of *row.Job, p *protocol.Payload) Payload {
	last := a.last[user]
	if last == nil || last.script != string(p.Script) || !slices.Equal(last.env, p.Env) || !last.shell.Equal(p.Shell) {
		last = a.content(user, last, p)
	}
	other := rest{p.WorkDir, p.Stdout, p.Stderr, p.Input, p.AppendOutput, p.LimitSignal, p.Staging}
	if other != (rest{workDir: of.WorkDir, stdout: of.Stdout, stderr: of.Stderr}) {
		own := *last
		own.rest = &other
		last = &own
	}
	return Payload{content: last, args: p.Args}
}

// content is that of a payload which is not as the last one of its user.
func (a *Store) content(user string, last *content, p *protocol.Payload) *content {
	c := &content{script: a.script(last, p), shell: p.Shell}
	if last != nil {
		if last.shell.Equal(p.Shell) {
			c.shell = last.shell
		}
		if other, few := differing(last.env, p.Env); few {
			c.env, c.other = last.env, other
			if len(other) == 0 {
				a.remember(user, c) // another script
			}
			return c
		}
	}
	c.env = slices.Clone(p.Env)
	for i, pair := range c.env {
		c.env[i] = a.Text(pair)
	}
	a.remember(user, c)
	return c
}

func (a *Store) script(last *content, p *protocol.Payload) string {
	if last != nil && last.script == string(p.Script) {
		return last.script
	}
	return a.Text(string(p.Script))
}

func (a *Store) remember(user string, c *content) {
	bytes := len(c.script)
	for _, pair := range c.env {
		bytes += len(pair) + 16
	}
	if bytes > maxText {
		return
	}
	if a.lastBytes += bytes; a.last == nil || a.lastBytes > maxLast {
		a.last, a.lastBytes = map[string]*content{}, bytes
	}
	a.last[user] = c
}

// differing are the variables that a second environment has in place of the first one's, if they
// are few.
func differing(first, second []string) (other []variable, few bool) {
	if len(first) != len(second) {
		return nil, false
	}
	for i, pair := range second {
		if pair == first[i] {
			continue
		}
		if len(other) == maxOther {
			return nil, false
		}
		other = append(other, variable{i, pair})
	}
	return other, true
}
