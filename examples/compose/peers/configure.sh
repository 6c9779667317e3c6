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
leaf=electra # the site with a leaf node of its own, in the profile nats
declare -A public user

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
# nothing else; the last site knows its leaf node only. Otherwise the last site only dials, and the
# others listen as well.
bus() {
	local i=$1 site=${sites[$1]}
	echo "[nats]"
	if [ "$profile" = nats ]; then
		if [ "$site" = "$leaf" ]; then
			echo "url = \"nats://leaf.$site:4222\""
		else
			echo "url = \"nats://nats1.$site:4222,nats://nats2.$site:4222,nats://nats3.$site:4222\""
		fi
		echo "nkey = \"nats.nkey\""
		echo "ca = \"nats-ca.pem\""
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

# make_users gives each site a key as a user of NATS.
make_users() {
	local site
	for site in "${sites[@]}"; do
		"$folder/image/nk" -gen user -pubout >"$folder/$site.user"
		sed -n 1p "$folder/$site.user" >"$folder/$site/nats.nkey"
		user[$site]=$(sed -n 2p "$folder/$site.user")
	done
}

# user_of SITE: prints its user, who may say what comes from the site, and hear what is for it: no more than
# the peer needs.
user_of() {
	echo "{ nkey: ${user[$1]}, permissions: { publish: [\"switchyard.v1.*.in.$1.>\"], subscribe: [\"switchyard.v1.$1.in.*.>\"] } }"
}

# make_certificates makes an authority, and the certificate of all NATS servers by all their names.
make_certificates() {
	local site names=DNS:leaf.$leaf key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2)
	for site in routes "${sites[@]}"; do
		names+=,DNS:nats1.$site,DNS:nats2.$site,DNS:nats3.$site
	done
	openssl req -x509 "${key[@]}" -subj "/CN=authority of the NATS servers" -keyout "$folder/nats-ca.key" -out "$folder/nats/ca.pem" 2>/dev/null
	openssl req -x509 -CA "$folder/nats/ca.pem" -CAkey "$folder/nats-ca.key" "${key[@]}" -subj "/CN=NATS server" \
		-addext basicConstraints=critical,CA:FALSE -addext "subjectAltName=$names" -keyout "$folder/nats/server.key" -out "$folder/nats/server.pem" 2>/dev/null
	for site in "${sites[@]}"; do
		cp "$folder/nats/ca.pem" "$folder/$site/nats-ca.pem"
	done
}

# One configuration for the three NATS servers; each skips the route to itself. They do
# not advertise their addresses, most of which a site cannot reach. The leaf node is a client of them with the
# user of its site, and has no other rights.
write_nats() {
	local site tls='tls { cert_file: /etc/nats/server.pem, key_file: /etc/nats/server.key, ca_file: /etc/nats/ca.pem }'
	cat >"$folder/nats/nats.conf" <<-CONF
		listen: 0.0.0.0:4222
		$tls
		authorization { users: [
		$(for site in "${sites[@]}"; do user_of "$site"; done)
		] }
		cluster {
		  name: grid
		  listen: 0.0.0.0:6222
		  no_advertise: true
		  routes: [tls://nats1.routes:6222, tls://nats2.routes:6222, tls://nats3.routes:6222]
		  $tls
		}
		leafnodes {
		  listen: 0.0.0.0:7422
		  no_advertise: true
		  $tls
		}
	CONF
	cat >"$folder/nats/leaf.conf" <<-CONF
		listen: 0.0.0.0:4222
		$tls
		authorization { users: [$(user_of "$leaf")] }
		leafnodes { remotes: [{
		  urls: [tls://nats1.$leaf:7422, tls://nats2.$leaf:7422, tls://nats3.$leaf:7422]
		  nkey: $(cat "$folder/$leaf/nats.nkey")
		  tls { ca_file: /etc/nats/ca.pem }
		}] }
	CONF
}

umask 077
make_keys
write_sites
if [ "$profile" = nats ]; then
	mkdir "$folder/nats"
	make_users
	make_certificates
	write_nats
fi
