// Package ledger keeps the accounts of one site: what its runs draw, what its jobs cost and have cost,
// what they have saved elsewhere, and what that leaves of the limits of their applications.
//
// It reads the rows of the peer and changes the accounts in them alone: the totals of the site, what an
// application has spent, and the tariff of a job. Prices are those of peer/pricing.
package ledger
