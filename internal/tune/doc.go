// Package tune is the ISS-Simulator [IS 5]: it looks for the free parameters of the cost
// function, and for the machine to buy next, by simulating the grid again and again.
//
// A [Search] tries points: values of some keys of an experiment, α, β, γ and δ above all
// [IS 4.2]. Each is simulated for every seed by the same peers that run a real grid, and
// judged by one number against the experiment as its file has it, the baseline: [Score].
// [Rank] asks what a machine that is bought or given up would change, and [Demand] which
// machines are overused.
//
// Simulations run several at once. The order of results, and every byte of them, depends
// on the experiment alone.
package tune
