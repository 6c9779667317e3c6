// Package python has the source of switchyard_plugin, the SDK of policy plugins in Python.
package python

import "embed"

//go:generate sh generate.sh

// Files has the directory switchyard_plugin.
//
//go:embed switchyard_plugin/*.py
var Files embed.FS
