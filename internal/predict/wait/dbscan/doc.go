// Package dbscan is density-based clustering (Ester, Kriegel, Sander and Xu,
// KDD 1996) under the Manhattan distance, with the labels that scikit-learn's
// DBSCAN gives: clusters count from 0 in the order of their first core points,
// a point that two clusters reach belongs to the first, and a point in no cluster's
// reach is [Noise]. A point counts among its own neighbours.
package dbscan
