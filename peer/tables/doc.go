// Package tables has the rows of one peer in memory: its jobs, guests, runs, submissions,
// applications and run history, and beside each job, guest and run what is known of it and not
// durable. It restores them from records, looks across them, and says at the end of a step which
// records the step has changed.
//
// Nothing here decides, calls or sends. Who changes a row marks it (SaveJob and the like); what the
// row holds at the end of the step is what [Tables.Records] makes durable, once, and only if the
// rows of the step go together.
package tables
