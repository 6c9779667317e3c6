// Package sarima fits seasonal ARIMA models, SARIMA(p,d,q)(P,D,Q)s, to a series
// by exact maximum likelihood, and forecasts it: the price model of [MC 3.2].
//
// The likelihood is that of the state-space form with the exact stationary start,
// as R's arima(method = "ML") and statsmodels' SARIMAX compute it. The filter is
// that of Chandrasekhar (Pearlman 1980, Mélard 1984): it carries one column instead
// of the covariance of the state, which makes a step linear in the largest lag.
// Mean and missing observations are regression effects (generalised least squares
// in the same pass), the variance is concentrated out, and differences are taken
// before, so that only the ARMA coefficients are searched for.
package sarima
