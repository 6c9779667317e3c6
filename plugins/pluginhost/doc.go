// Package pluginhost is the host of plugins: it starts a plugin as a process of its
// own, watches over it, and speaks with it as if it were built in.
//
//	plugin, err := pluginhost.Open(spec, log)   // what is wrong with the file: err
//	err = plugin.Wait(ctx)                   // up, or why not yet
//	decisions, hint, err := plugin.Policy().Decide(ctx, snapshot)
//
//	          Down ◄───────────────────────────────┐
//	           │ after a pause that grows          │ it ends, misses health checks,
//	           ▼                                   │ or its answers fail in a row
//	        Starting ──handshake, Info, Configure──► Up
//
// Each call has a deadline, each answer is checked, and each error names the plugin,
// its file and the call. While a plugin is down, calls fail at once with a
// [DownError]: they never reached the plugin. The process dies with this one, however
// that ends, and so do its children that have not left its process group when it is
// ended in an orderly way.
//
// What is built in goes through the same checks: [CheckedPolicy],
// [CheckedScheduler]. Prices are checked by internal/priceforecast, whose feed they are from.
package pluginhost
