// Package cost is what a site charges for work, and what waiting for results costs: the
// terms K_e, K_l, K_eco, K_d and K_w of [IS 4.2]. docs/cost-model.md has the formulas.
//
// All of it is arithmetic on whole millionths of money, milliseconds and millionths of
// shares. Integrals are exact, in 128 bits, and rounded once, halves away from zero; what
// would overflow is the largest or least amount.
package cost
