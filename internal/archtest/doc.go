// Package archtest checks the dependency rules of docs/architecture.md: which
// rooms (folders of packages) exist, what each may import, and which may have a
// clock or start goroutines.
//
// It also checks what pages say of the code: the table of rooms, the walks through them, and in
// which order a room is read.
//
// The rules are data ([Switchyard]); [Load] reads a module. What compares the two is asked by this
// package's tests alone, and stands with them; make test asks which tests want the race detector
// ([Rules.Runs]). Test files are exempt from the rules. The linter's
// depguard rules say the same for single files while one types; this package
// also follows imports transitively and knows when a rule has lost its room.
package archtest
