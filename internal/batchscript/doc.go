// Package batchscript reads batch scripts: the directives at their head and the
// options of the command line that add to them.
//
// Directives are the comment lines before the first command that begin with
// #SBATCH or #SWITCHYARD. They take the options of sbatch(1) that mean something
// on a grid, and some of Switchyard's own; see [Options]. What the command line
// says beats #SWITCHYARD, and that beats #SBATCH. Of several equal ones the last
// counts.
//
// The package reads no files and knows no clock: the caller hands over the
// script's bytes and the submitter's surroundings.
package batchscript
