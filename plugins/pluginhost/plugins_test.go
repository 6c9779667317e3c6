package pluginhost_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/switchyard-hpc/switchyard/plugins/policy"
	"github.com/switchyard-hpc/switchyard/plugins/policy/tc"
	"github.com/switchyard-hpc/switchyard/plugins/sdk"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// bePlugin is a plugin of these tests. It does not return.
func bePlugin(name string, args []string) {
	switch name {
	case "tc":
		sdk.Main(tcPlugin())
	case "moody":
		sdk.Main(moodyPlugin(args))
	case "memory":
		sdk.Main(memoryPlugin(args...))
	case "holder":
		sdk.Main(holderPlugin())
	case "lax":
		sdk.Main(laxPlugin())
	case "prices":
		sdk.Main(pricesPlugin())
	default:
		beHostile(name, args)
	}
	os.Exit(97)
}

type tcConfig struct {
	Epsilon protocol.Duration `toml:"epsilon"`
	Least   int               `toml:"least" within:"1,10"`
}

// tcPlugin is policy tc as a plugin.
func tcPlugin() sdk.Plugin {
	return sdk.Policy[tcConfig]{
		Name: "tc", Version: "1.0.0", About: "turnaround cost",
		Defaults: tcConfig{Epsilon: tc.DefaultEpsilon, Least: 1},
		Check: func(r *sdk.Reader, c *tcConfig) {
			if c.Epsilon > protocol.Hour {
				r.Problem("epsilon", "is more than an hour")
			}
			if c.Epsilon == protocol.Hour {
				r.Warn("epsilon", "is much")
			}
		},
		Make: func(c tcConfig, host sdk.Host) (policy.Policy, error) {
			if host.Site == "" {
				return nil, errors.New("no site")
			}
			fmt.Fprintln(os.Stderr, "made for", host.Site, "seed", host.Seed, "by", host.Software, "in", host.StateDir)
			return tc.New(tc.Config{Epsilon: c.Epsilon}), nil
		},
	}
}

type moodyConfig struct{}

// moody is a policy that does as the first job's number says.
type moody struct {
	params    []policy.Param
	cancelled chan struct{} // closed when a call that waits has seen the end of its context
	once      sync.Once
}

func moodyPlugin(args []string) sdk.Plugin {
	return sdk.Policy[moodyConfig]{
		Name: "moody", Version: "1.0.0",
		Make: func(moodyConfig, sdk.Host) (policy.Policy, error) {
			m := &moody{cancelled: make(chan struct{})}
			for _, arg := range args {
				// A file that is not there at the first start makes the second one differ.
				if _, err := os.Stat(arg); err == nil {
					m.params = []policy.Param{{Name: "another", Value: "one"}}
				} else if err = os.WriteFile(arg, nil, 0o600); err != nil {
					return nil, err
				}
			}
			return m, nil
		},
	}
}

// The moods: numbers of jobs.
const (
	calm = iota + 1
	dies
	panics
	hangs
	fails
	twice
	declined
	negative
	tooMany
	noSite
	bigHint
	prints
	stalls
	waits
	afterWaiting
)

func (m *moody) Info() policy.Info {
	return policy.Info{Name: "moody", Initiations: []policy.Initiation{policy.Sender}, Params: m.params}
}

func (m *moody) Decide(ctx context.Context, in policy.Snapshot) ([]policy.Decision, []byte, error) {
	good := policy.Decision{Job: 0, Site: 0, Wait: in.AWT[0], Reason: "pid " + strconv.Itoa(os.Getpid())}
	switch in.Jobs[0].ID.Seq() {
	case dies:
		fmt.Fprintln(os.Stderr, "farewell")
		os.Exit(3)
	case panics:
		panic("aargh")
	case hangs:
		select {}
	case waits:
		<-ctx.Done()
		m.once.Do(func() { close(m.cancelled) })
		return nil, nil, ctx.Err()
	case afterWaiting:
		<-m.cancelled
	case stalls:
		time.Sleep(time.Second)
	case fails:
		return nil, nil, errors.New("cannot decide today")
	case twice:
		return []policy.Decision{good, good}, nil, nil
	case declined:
		good.Site = 1
	case negative:
		good.Wait = -5
	case tooMany:
		good.Job = 77
	case noSite:
		good.Site = -2
	case bigHint:
		return nil, make([]byte, policy.MaxHint+1), nil
	case prints:
		fmt.Println("on standard output")
		fmt.Fprintln(os.Stderr, "on standard error")
		println("on the old standard error")
	}
	return []policy.Decision{good}, []byte("hint"), nil
}
