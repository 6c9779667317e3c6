#!/usr/bin/env bash
# The configuration of the peers as in other beds, and for each site a folder of what its Slurm has, and the key that its
# nodes share: configure.sh SWITCHYARD DIR.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

switchyard=$1 dir=$2 bed=$here/slurm

"$here/configure.sh" "$switchyard" "$dir" slurm
umask 077
for site in "${sites[@]}"; do
	mkdir "$dir/$site-slurm"
	cp "$bed/$site.conf" "$dir/$site-slurm/slurm.conf"
	cp "$bed/common.conf" "$bed/cgroup.conf" "$dir/$site-slurm"
	head -c 1024 /dev/urandom >"$dir/$site-slurm/munge.key"
done
cp "$bed/slurmdbd.conf" "$dir/aurora-slurm"
