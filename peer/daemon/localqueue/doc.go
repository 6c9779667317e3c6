// Package localqueue opens the local queue of a site: the local scheduler that the configuration
// names, and what stands around it.
//
//	node ─► prediction of waits ─► tariff ─► power gate ─► checks ─► built-in batch system,
//	        (localsched/waitpredict)           (if there is a budget)    Slurm, or a plugin
//
// The built-in batch system has a policy that obeys the power budget; before any other one
// stands the gate (localsched/powergate), if the site has a budget or the gate still holds jobs.
//
// # Contract
//
// [Open] needs a power budget that has started, attaches what obeys it, and tells it the size of
// the machine. What it returns runs until [Queue.Close], which must be called after the node has
// ended and before the plugins do. The built-in batch system starts no job before
// [Queue.AllowStarts]. The methods may be called from any goroutine, but Close only once.
//
// # What lasts
//
// What the batch system says of its machine is written to machine.json in the state directory,
// so that a peer starts while the batch system is down, as long as it has run with it before.
// The jobs themselves are kept by the batch system (spool, slurm) and the gate (gate), in
// directories beside it.
package localqueue
