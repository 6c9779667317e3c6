#!/usr/bin/env bash
# Submits jobs at aurora, cuts networks while jobs run and while others are handed over,
# heals them, and waits until all jobs have ended; then check.sh looks at the results.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"
sites+=(draco electra)
next=1 first=

# take COUNT: sets first to the first of so many numbers that no job has yet.
take() {
	first=$next
	next=$((next + $1))
}

# submit SCRIPT FIRST LAST SECONDS|until:NAME [OPTION...]: submits the jobs of these numbers at
# aurora, one after the other, each of so many seconds, or until release NAME.
submit() {
	# shellcheck disable=SC2016 # the container's shell expands it
	ada sh -c 'script=$1 first=$2 last=$3 seconds=$4; shift 4
		for n in $(seq "$first" "$last"); do
			switchyard submit --parsable --stage-in-size=0 --job-name="job-$n" "$@" "$script" "$n" "$seconds" || exit
		done' sh "$@" </dev/null >>"$GRID/submitted"
}

# release NAME SITE...: lets the jobs at the sites end that run until then.
release() {
	local site
	for site in "${@:2}"; do
		at "$site" touch "/var/runs/$1"
	done
}

# burst FIRST [OPTION...]: submits 60 jobs that only compute, four at a time. Their scripts
# carry a megabyte, so that some are being handed over at any instant of it.
burst() {
	local first=$1 part submitter submitters=()
	for part in 0 15 30 45; do
		submit big.sh $((first + part)) $((first + part + 14)) 0 --ntasks=1 "${@:2}" &
		submitters+=($!)
	done
	for submitter in "${submitters[@]}"; do
		wait "$submitter" || fail "a job could not be submitted"
	done
}

# submitted COUNT: whether so many jobs have been.
submitted() { [ "$(wc -l <"$GRID/submitted")" -ge "$1" ]; }

# noted SITE WORD NUMBER...: whether all these jobs noted there that they began, or ended.
noted() {
	local n log
	log=$(at "$1" cat /var/runs/log)
	for n in "${@:3}"; do
		grep -q "^$2 $n " <<<"$log" || return
	done
}

# spread: whether jobs run at three partners or more.
spread() {
	at aurora switchyard queue --no-header |
		awk '$4 == "RUNNING" && $8 != "aurora" { at[$8] } END { for (site in at) n++; exit n < 3 }'
}

state_of() {
	at aurora switchyard queue --recent 1000 --no-header | awk -v name="job-$1" '$2 == name { print $4 }'
}

# known_running NUMBER...: whether aurora has heard that these jobs began.
known_running() {
	local n
	for n in "$@"; do
		[ "$(state_of "$n")" = RUNNING ] || return
	done
}

# waiting prints how many jobs have no site yet.
waiting() {
	at aurora switchyard queue --no-header | awk '$8 == "-" { n++ } END { print n + 0 }'
}

# line prints the network that carries what cygnus and aurora tell each other: cygnus
# dials aurora, or the NATS servers.
line() {
	if [ "$COMPOSE_PROFILES" = nats ]; then echo cygnus; else echo aurora; fi
}

begin() {
	await "all partners of aurora are up" all_linked up
	ada sh -c 'cat >job.sh' <"$here/peers/job.sh"
	ada sh -c '{ cat job.sh; head -c 1000000 /dev/zero | tr "\0" "#"; } >big.sh'
	: >"$GRID/submitted"
	say "submitting 14 jobs at aurora, the first two for cygnus only"
	take 14
	submit job.sh 1 2 until:cut --sites=cygnus --time=30
	submit job.sh 3 14 until:spread --time=30
	await "jobs run at three partners" spread
	await "aurora knows that jobs 1 and 2 run at cygnus" known_running 1 2
	release spread "${sites[@]}"
}

# lose_cygnus cuts one link while jobs run behind it. They go on and end there, which
# aurora must neither know nor guess; their results come back later.
lose_cygnus() {
	local burst left
	say "submitting 60 jobs for cygnus, and cutting its link to aurora meanwhile"
	take 60
	burst "$first" --sites=cygnus &
	burst=$!
	await "jobs are handed over" submitted $((first + 13))
	cut_off cygnus "$(line)"
	wait "$burst"
	await "aurora misses cygnus" linked cygnus down
	release cut cygnus
	left=$(waiting)
	say "$((60 - left)) of them were handed over before or during the cut, $left wait at aurora"
	await "jobs 1 and 2 end at cygnus" noted cygnus ended 1 2
	[ "$(state_of 1)" = RUNNING ] || fail "job 1 ended behind the cut, but aurora calls it $(state_of 1)"
	say "healing the link"
	heal cygnus "$(line)"
	await "cygnus is up again" linked cygnus up
}

# lose_all cuts the origin off, while its jobs are everywhere. It still takes jobs.
lose_all() {
	local burst
	say "submitting 72 jobs for any site, and cutting aurora off meanwhile"
	take 12
	submit job.sh "$first" $((next - 1)) 6
	take 60
	burst "$first" &
	burst=$!
	await "jobs are handed over" submitted $((first + 13))
	cut_off aurora aurora
	wait "$burst"
	await "aurora misses all partners" all_linked down
	take 4
	submit job.sh "$first" $((next - 1)) 1
	say "healing its network"
	heal aurora aurora
	await "all partners are up again" all_linked up
}

# lose_server kills one of the NATS servers; the sites that use it go to another.
lose_server() {
	say "killing one NATS server of three, while jobs run"
	take 12
	submit job.sh "$first" $((next - 1)) 6
	docker kill "$(container nats1)" >/dev/null
	take 8
	submit job.sh "$first" $((next - 1)) 1
	await "all partners are up without it" all_linked up
}

# violated SUBJECT: whether a NATS server has refused a subscription to it.
violated() {
	local server
	for server in nats2 nats3; do
		docker logs "$(container "$server")" 2>&1 | grep -qF "Subscription Violation - Subject \"$1\"" && return
	done
	return 1
}

# restart SITE: starts its peer again, with the configuration as it is in the grid's folder.
restart() {
	docker restart --time 30 "$(container "$1")" >/dev/null
}

# wrong_user has draco's peer come with cygnus's key to the NATS servers, as a thief of that key would: it must
# hear nothing of what is for draco.
wrong_user() {
	local kept
	say "starting draco as the NATS user of cygnus"
	kept=$(cat "$GRID/draco/nats.nkey")
	cat "$GRID/cygnus/nats.nkey" >"$GRID/draco/nats.nkey"
	restart draco
	await "a NATS server refuses a subscription to what aurora says to draco" violated 'switchyard.v1.draco.in.aurora.>'
	await "aurora misses draco" linked draco down
	echo "$kept" >"$GRID/draco/nats.nkey"
	restart draco
	await "all partners are up with users of their own" all_linked up
}

# interrupted tells of the hand-offs that were under way when a network was cut: an offer
# without an answer is taken back, and what was granted goes on when the network is healed.
# It returns 1 if there was none.
interrupted() {
	docker logs "$(container aurora)" 2>&1 | awk '
		/kind=requeued/ { back++ }
		/kind=handed-off/ && match($0, /duration_ms=[0-9]+/) && substr($0, RSTART + 12, RLENGTH - 12) > 5000 { late++ }
		END {
			printf "a cut interrupted %d hand-offs: %d were taken back, %d finished later\n", back + late, back, late
			exit back + late == 0
		}'
}

all_end() {
	say "waiting until all jobs have ended"
	await "all jobs have ended" all_ended
}

begin
lose_cygnus
lose_all
if [ "$COMPOSE_PROFILES" = nats ]; then
	lose_server
fi
all_end
# A hand-off takes milliseconds, so that a cut can fall between two.
cuts=2
until interrupted; do
	[ "$cuts" -lt 10 ] || fail "no hand-off was under way in any of $cuts cuts, so nothing was shown"
	cuts=$((cuts + 1))
	lose_all
	all_end
done
if [ "$COMPOSE_PROFILES" = nats ]; then
	wrong_user
fi
"$here/peers/check.sh" "$(wc -l <"$GRID/submitted")"
