#!/usr/bin/env bash
# Makes the keys and the configurations of the five sites in a folder, one folder for
# each site, which becomes the site's /etc/switchyard. Usage:
#
#	configure.sh SWITCHYARD FOLDER peers|nats
#
# SWITCHYARD is the program that makes the keys.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

switchyard=$1 folder=$2 profile=$3
sites=(aurora borealis cygnus draco electra)
cpus=(2 4 4 2 4)
declare -A public

# Keys come first: each site's configuration has the public keys of all others.
make_keys() {
	local site
	for site in "${sites[@]}"; do
		mkdir -p "$folder/$site"
		public[$site]=$("$switchyard" keygen --out "$folder/$site/site.key")
	done
}

# The spans are short so that a cut is noticed, and made good, within seconds; a real
# site keeps the defaults, but for the token.
settings() {
	local i=$1
	cat <<-TOML
		[site]
		name = "${sites[i]}"
		number = $((i + 1))

		$(bus "$i")

		[localsched]
		cpus = ${cpus[i]}

		[rounds]
		local_wait_threshold = "1s"
		check_interval = "5s"

		[policy.tc]
		turnaround_tolerance = "1s"

		[handoff]
		retry_max = "4s"

		[metrics]
		listen = ""

		[log]
		format = "text"
	TOML
}

# Over NATS servers of its own, a site knows them by names of its own network, and
# nothing else. Otherwise the last site only dials, and the others listen as well.
bus() {
	local i=$1 site=${sites[$1]}
	echo "[nats]"
	if [ "$profile" = nats ]; then
		echo "url = \"nats://nats1.$site:4222,nats://nats2.$site:4222,nats://nats3.$site:4222\""
		echo "token = \"nats.token\""
	elif [ "$i" -eq $((${#sites[@]} - 1)) ]; then
		echo "listen = \"\""
	else
		echo "listen = \"0.0.0.0:7501\""
	fi
}

# A site dials those before it.
write_sites() {
	local i j url
	for i in "${!sites[@]}"; do
		{
			settings "$i"
			for j in "${!sites[@]}"; do
				url=
				[ "$profile" = nats ] || [ "$j" -gt "$i" ] || url=nats://peer.${sites[j]}:7501
				[ "$i" -eq "$j" ] || partner "${sites[j]}" "${public[${sites[j]}]}" "$url"
			done
		} >"$folder/${sites[i]}/site.toml"
	done
}

# One configuration for the three NATS servers; each skips the route to itself. They do
# not advertise their addresses, most of which a site cannot reach.
write_nats() {
	local token site
	token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	for site in "${sites[@]}"; do
		(umask 077 && echo "$token" >"$folder/$site/nats.token")
	done
	mkdir -p "$folder/nats"
	cat >"$folder/nats/nats.conf" <<-CONF
		listen: 0.0.0.0:4222
		authorization { token: "$token" }
		cluster {
		  name: grid
		  listen: 0.0.0.0:6222
		  no_advertise: true
		  routes: [nats://nats1.routes:6222, nats://nats2.routes:6222, nats://nats3.routes:6222]
		}
	CONF
}

umask 077
make_keys
write_sites
if [ "$profile" = nats ]; then
	write_nats
fi
