// Package settings reads TOML strictly: into structs by their "toml" tags, with
// every mistake reported at once, each with its file, line, key and remedy.
//
// A [Reader] merges files into a struct. The caller then checks the values, with
// the Reader's own checks and [Reader.Problem], and asks for [Reader.Err]:
//
//	r := settings.NewReader(&experiment)
//	r.File(path)
//	if !r.Broken() {
//		r.OneOf("sites.layout", experiment.Sites.Layout, "ring", "star")
//	}
//	return r.Err()
//
// Fields may be strings, booleans, numbers of any kind, [protocol.Duration],
// [Path], [Share], types with UnmarshalTOML ([Unmarshaler]), structs (tables),
// pointers to these (absent: nil), slices (lists, and arrays of tables) and maps
// with string keys. A tag within:"1,9000" on a number bounds it. Keys without a
// field are mistakes.
package settings
