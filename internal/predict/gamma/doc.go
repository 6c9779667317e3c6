// Package gamma predicts how long an application component runs on a machine by the Γ model
// (facts/iss-gamma.md, after Gruber et al., "Parameterisation to tailor commodity clusters to
// applications", FGCS 19, 2003), and learns a component's behavior from its runs [IS 2, 4.3].
package gamma
