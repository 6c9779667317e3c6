// Package config reads a peer's configuration: TOML files, checked as a whole
// before anything starts.
//
// [Load] reports every problem at once, each with its place and its remedy. What
// the files leave out has the value of [Default]. [Sample] and [Config.Show] print
// configurations that Load reads again; they and docs/configuration.md come from
// one table, so that no key is without a description.
//
// Durations are written as "30s", "2h" or "7d", sizes as "512MB" or "4GB".
// Secrets are never in the configuration, only the paths of their files. A
// relative path begins at the directory of the file in which it stands.
package config
