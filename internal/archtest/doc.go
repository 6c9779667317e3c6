// Package archtest checks the dependency rules of docs/architecture.md: which
// rooms (folders of packages) exist, what each may import, and which may have a
// clock or start goroutines.
//
// It also checks what pages say of the code: the table of rooms ([CheckRooms]), the walks
// through them ([CheckWalks]), and in which order a room is read ([CheckReadingOrder]).
//
// The rules are data ([Switchyard]); [Load] reads a module, [Rules.Check] compares the two. Test files are exempt. The linter's
// depguard rules say the same for single files while one types; this package
// also follows imports transitively and knows when a rule has lost its room.
package archtest
