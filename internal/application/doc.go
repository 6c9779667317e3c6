// Package application reads files that describe applications: several components that are
// submitted together, and what their user wants of them [IS 1, 4.2].
//
//	[application]
//	name = "coupled"
//	objective = "balanced"       # or beta, alpha, gamma, delta
//	max_cost = "50 CHF"
//	max_time = "12h"
//
//	[[component]]
//	name = "mesh"
//	script = "mesh.sh"
//	cpus = [4, 8, 16]
//	time = ["4h", "2h", "1h"]
//
// A component's script is a batch script with directives of its own. What the file says
// beats them, and the command line beats the file; see package batchscript, which checks
// all values. The user's guide is docs/applications.md.
package application
