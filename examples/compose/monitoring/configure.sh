#!/usr/bin/env bash
# The configuration of the sites as in other beds, and that of Prometheus, which is examples/monitoring with
# the three sites and with short times: configure.sh SWITCHYARD DIR.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

switchyard=$1 dir=$2 examples=$here/../monitoring

"$here/configure.sh" "$switchyard" "$dir" monitoring
umask 077
mkdir "$dir/prometheus"
targets=$(printf '%s:9750, ' "${sites[@]}")
# Without an Alertmanager: the tests ask Prometheus what fires.
sed -E -e '/^alerting:/,/^$/d' -e "s/- targets:.*/- targets: [${targets%, }]/" -e '/- localhost:9750/d' -e 's/(_interval): .*/\1: 1s/' \
	"$examples/prometheus.yml" >"$dir/prometheus/prometheus.yml"
sed -E 's/^( +for): .*/\1: 2s/' "$examples/alerts.yml" >"$dir/prometheus/alerts.yml"
