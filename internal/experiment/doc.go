// Package experiment describes simulations in files: machines, their workloads,
// how jobs are placed, and what goes wrong. A [Plan] is read from a TOML file or
// is one of the built-in ones; it is run for one seed, or swept over parameters,
// schemes and seeds.
package experiment
