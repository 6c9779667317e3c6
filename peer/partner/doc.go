// Package partner is what a site knows of its partners: a [Partner] is a configured site, its
// session, its card and load, the lives that speak for its store, how its jobs and this site's
// went, and what it has been refused; [Set] are all of them.
//
// Nothing here calls, sends or saves: methods judge, or take in what was heard and say what has
// changed, and the core carries it out.
package partner
