// Package workload knows what jobs came to a machine, or might come: traces in
// the standard formats, and models from which traces are drawn. It is pure: a
// reader is given bytes, a model a seed.
package workload
