#!/bin/sh
# Writes into north.toml when the budget holds: from this hour on for four hours, or with
# "later" from the next hour but one. The peer heeds it after: switchyard reload
set -eu
cd "$(dirname "$0")"

case ${1:-now} in
now) from="now" until="4 hours" ;;
later) from="2 hours" until="6 hours" ;;
*) echo "usage: peak.sh [now|later]" >&2 && exit 2 ;;
esac
hours=$(date -u -d "$from" +%H:00)-$(date -u -d "$until" +%H:00)
sed "s/^on_peak = \"[^\"]*\"/on_peak = \"$hours\"/" north.toml >north.new
mv north.new north.toml
echo "on_peak = \"$hours\""
