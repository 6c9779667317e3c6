// Package partition says how a machine is cut into partitions, as Blue Gene/P is: a
// job runs alone in one partition, and two partitions exclude each other when they
// share a node card or a wire.
//
//	a rack pair: 4 midplanes on one loop of Z wires
//
//	   R00-M0 ──▸ R00-M1        ANL-R00-1024, a torus, closes its loop through the
//	     ▴          │           switches of R01 and takes all four wires. Rack R01
//	     │          ▾           can then run nothing that needs one of them, though
//	   R01-M0 ◂── R01-M1        its nodes are idle. MESH-R00-1024 takes one wire.
//
// [Parse] reads a [Layout] from a file, [Generate] makes one for a number of racks,
// and [Intrepid] is the real one of a machine of 40 racks.
//
// # Files
//
// A file is UTF-8 text of at most 16 MB with one card or partition in a line, its
// fields between commas, lists between spaces. Empty lines and those that begin with
// # are remarks. The order of the lines is free.
//
//	# kind,name,nodes
//	card,R00-M0-N00,32
//	card,R00-M0-N01,32
//	# kind,name,nodes,type,cards,wires,parents,conflicts
//	partition,SMALL,32,mesh,R00-M0-N00,,LARGE
//	partition,LARGE,64,torus,R00-M0,X1 X2
//	partition,CHECK,64,diagnostics,R00-M0
//
// What the fields say:
//
//   - Names have 1 to 200 printable characters without spaces and commas.
//   - The nodes of a partition are the sum of its cards' nodes.
//   - The type is torus, mesh or diagnostics. Jobs never run in the last.
//   - Among the cards, a name that is no card stands for all cards below it at a
//     hyphen: R00-M0 is R00-M0-N00, R00-M0-N01 and so on.
//   - Wires are only names. Two partitions that name the same one share it.
//   - Parents are partitions that hold all cards of this one. They are checked and
//     shown, but add nothing to what the cards say.
//   - Conflicts are partitions that must not run beside this one for reasons that
//     neither cards nor wires tell. Naming it at one of the two is enough.
//   - Lists that are empty at the end of a line can be left out.
package partition
