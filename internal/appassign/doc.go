// Package appassign places the components of one application [IS 4.2]: of the choices of
// each, a site and a number of CPUs, it takes one, so that
//
//	z = Σ Weighted + Late(end of the last one)
//
// is least while the sum of the costs and that end stay within limits. Of equal z the
// earliest end wins, then the least cost, then the choices that come first. Sites take so
// many components, and those that share a site wait for each other, see [Problem].
//
// How [Solve] works:
//
//   - a choice that another one of its component beats in all respects is left out;
//   - what ends too early to keep the limit of cost is left out, by the bound of the problem
//     of the least cost;
//   - the range of possible ends is cut into boxes. Within a box waiting costs at least
//     what it does at the box's begin, and only choices that end before its end count;
//   - a box's bound is a Lagrangian relaxation: the limit of cost, the places at the sites
//     and the CPU time that they have until the box's end get prices, which a subgradient
//     ascent looks for in floating point; what they prove is then worked out in integers;
//   - choices that the bound rules out are left out, the others are searched depth first,
//     in the order of the components, where waits at shared sites are known exactly;
//   - where that search takes long, a local search of moves and exchanges repairs the
//     relaxation's choice until it keeps the limits;
//   - boxes that this does not settle soon are halved, the one of the least bound first;
//   - a last search takes the first choices of those that are equally good.
//
// It gives up at a limit of steps, which are counted and not timed, so that the same
// problem has the same answer everywhere. Then, and when the bound is near enough, the
// answer tells how far below it the least z can be.
//
// What is hard: sites so full that most components wait for each other. This is a
// scheduling problem, which the bound sees as if work could be cut at will; gaps of seven
// to nine percent remain with a hundred components and fifty sites, of which two or so
// are the solution's and the rest the bound's. [Problem.EachLate] makes it worse: the bound
// does not see these waits at all. Sites that accept few components, while limits of cost
// and time are tight, mostly end within one percent, and may miss it by a little.
package appassign
