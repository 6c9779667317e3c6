// Package pluginv1 is version 1 of the protocol of all plugins: the generated code
// of plugin.proto, and what a host and a plugin check of it.
//
// [CheckInfo] is a host's look at a plugin before it trusts it with a
// configuration. [EncodeNotes] and [DecodeNotes] carry what is wrong with a
// configuration across; the host knows the file that it is from.
package pluginv1

//go:generate sh ../../generate.sh plugin.proto
