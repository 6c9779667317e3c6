// Package sdk is what the author of a plugin imports. A plugin is a program of its
// own that a peer or the simulator starts; it is one of a [Policy], a [Scheduler] or
// a [Feed]:
//
//	type config struct {
//		MaxWait protocol.Duration `toml:"max_wait"`
//	}
//
//	func main() {
//		sdk.Main(sdk.Policy[config]{
//			Name:     "cheapest",
//			Version:  "1.0.0",
//			About:    "the cheapest site under a wait limit",
//			Defaults: config{MaxWait: protocol.Hour},
//			Check: func(r *sdk.Reader, c *config) {
//				r.Positive("max_wait", c.MaxWait)
//			},
//			Make: func(c config, host sdk.Host) (policy.Policy, error) {
//				return &cheapest{maxWait: c.MaxWait}, nil
//			},
//		})
//	}
//
// The package reads the configuration, strictly and with every mistake at once;
// speaks the protocol; turns panics into errors; closes what is an [io.Closer]; and
// ends the program when its host has gone.
//
// What a plugin writes to standard output or error goes to the host's log.
package sdk
