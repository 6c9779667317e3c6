#!/bin/sh
# Makes the keys of both sites, and lets jobs of the other site run as your own account, or
# as nobody if you are root. Run it once, in a copy of this folder.
set -eu
cd "$(dirname "$0")"

umask 077
mkdir -p keys
switchyard keygen --out keys/alp
switchyard keygen --out keys/lowland
switchyard keygen --gossip keys/gossip.keys
umask 022
mkdir -p state # a job must be able to pass through it to its own folder

account=$(id -un)
if [ "$account" = root ]; then
	account=nobody
	chmod 1777 . # where nobody writes the jobs' output
fi
for site in alp lowland; do
	sed "s/\"griduser\"/\"$account\"/" "$site.toml" >"$site.new"
	mv "$site.new" "$site.toml"
done
