// Package daemon is a site's peer as a whole: it assembles the parts, starts and stops them,
// and reads the configuration again while they run.
//
//	d := daemon.New(daemon.Options{Config: cfg, Paths: paths, Build: build, Log: os.Stderr})
//	err := d.Run(ctx)
//
// The program switchyard runs one until it receives a signal, internal/testbed runs them as
// processes or in a test's own process. There is nothing else that makes a peer.
//
// # What is where
//
//	daemon.go     options, start and stop, hangups
//	start.go      key, local queue, node, in the order in which they are opened
//	store.go      the database, and its check
//	network.go    links and gossip, as the node needs them (ports.go)
//	feeds.go      feeds of prices and budgets, and the keeper of the power budget
//	plugins.go    the plugins that run, policy.go the policy that decides
//	accounts.go   who may run jobs, as which account
//	reload.go     what changes while the peer runs, partners.go the partners, settingshistory.go what has changed
//	api.go        the socket, audit.go the audit log, metrics.go counters and health, notify.go the service manager
//	check.go      what a start would fail on, doctor.go what is wrong with a site
//	shim.go       the program that watches a job, garbage.go the memory of this one
//
// Parts that are things of their own have rooms below this one: pricefeed, powerbudget and
// localqueue. Which part may use which is checked by internal/archtest.
//
// # Contract
//
// [Daemon.Run] opens the parts in a fixed order, each of which may use those before it, and
// closes them in the opposite one, also when a start fails half-way. A part that ends by itself
// ends the whole: in memory it may be ahead of the rows, so the program must restart. When
// its context ends Run stops the peer, and running jobs go on or end as [localsched] on_stop
// says. Run may be called once. Several daemons may run in one process if their sites differ;
// they share the bound of its garbage.
//
// [Daemon.Reload] applies what may change while the peer runs, by one call at a time
// (reloading). The active configuration is replaced as a whole at the end (active), so that
// others see the old one or the new one. A policy whose plugin comes up late takes its place
// under the same lock.
//
// # What lasts
//
// All of it is in the state directory and belongs to the parts: the rows (peer/store), what the
// store must not be older than (peer/witness), output on its way home (peer/results), jobs
// (localsched), the latest answers of feeds (powerbudget), the machine (localqueue). The daemon
// itself keeps nothing.
package daemon
