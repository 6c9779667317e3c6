#!/usr/bin/env bash
# Puts together the /etc/switchyard of each site of a bed: configure.sh SWITCHYARD DIR BED.
# SWITCHYARD is the program that makes the keys. Files of the bed:
#
#	SITE.toml     the configuration of a site
#	common.toml   what all sites have alike
#	prices/       directories and files that all sites get
#
# Added here are each site's key, the grid's gossip keyring, and partners.toml: each site dials
# those before it in the alphabet, and the users of its partners are gridguest.
set -euo pipefail
# shellcheck source=grid.sh
. "$(dirname "$0")/grid.sh"

switchyard=$1 dir=$2 bed=$here/$3
declare -A public
umask 077

"$switchyard" keygen --gossip "$dir/gossip.keys"
for site in "${sites[@]}"; do
	mkdir "$dir/$site"
	public[$site]=$("$switchyard" keygen --out "$dir/$site/site.key")
	mv "$dir/$site/site.key.pub" "$dir/$site.pub"
done

for site in "${sites[@]}"; do
	cp "$here/network.toml" "$bed/$site.toml" "$bed/common.toml" "$dir/gossip.keys" "$dir/$site"
	[ ! -e "$bed/prices" ] || cp -r "$bed/prices" "$dir/$site"
	for other in "${sites[@]}"; do
		url=
		[[ $other > $site ]] || url=nats://$other:7501
		[ "$other" = "$site" ] || partner "$other" "${public[$other]}" "$url" >>"$dir/$site/partners.toml"
	done
done
