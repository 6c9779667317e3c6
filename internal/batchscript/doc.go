// Package batchscript reads batch scripts: the directives at their head and the
// options of the command line that add to them.
//
// Directives are the comment lines before the first command that begin with
// #SBATCH or #SWITCHYARD. They take all options of sbatch(1), and some of
// Switchyard's own; see [Options]. What cannot be carried is refused if the job
// would be another one without it, and noticed if it is a convenience; see [Fate].
// What the command line says beats #SWITCHYARD, that beats the variables SBATCH_…
// of the environment, and these #SBATCH. Of several equal ones the last counts.
//
// The package reads no files and knows no clock: the caller hands over the
// script's bytes and the submitter's surroundings.
package batchscript
