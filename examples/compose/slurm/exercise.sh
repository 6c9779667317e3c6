#!/usr/bin/env bash
# Submits jobs at aurora, by switchyard and by the commands of Slurm, and checks by the real Slurm of each site that it ran them.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"

# nodes_idle: whether Slurm has both nodes of each site.
nodes_idle() {
	local site
	for site in "${sites[@]}"; do
		[ "$(at "$site" sinfo --noheader --Node --format=%N/%T </dev/null | tr '\n' ' ')" = "$site-1/idle $site-2/idle " ] || return
	done
}

# by WAY NAME OPTION... [JOB ARGUMENT...]: submits at aurora by "switchyard submit" or by the sbatch that is switchyard, and
# prints the ID.
by() {
	local command=(switchyard submit)
	[ "$1" = submit ] || command=(/usr/local/lib/switchyard/bin/sbatch)
	ada "${command[@]}" --parsable --job-name="$2" "${@:3}" </dev/null
}

# accounted SITE NAME: prints user, state and exit code of the job with this name, as the real sacct of the site has them:
# of its database, or of the log.
accounted() {
	local log=()
	[ "$1" = aurora ] || log=(--completion)
	at "$1" sacct "${log[@]}" --noheader --parsable2 --allocations --format=jobname,user,state,exitcode </dev/null |
		awk -F '|' -v name="$2.sy.$1." 'index($1, name) == 1 { sub(/\(.*/, "", $2); print $2, $3, $4 }'
}

# ran NAME SITE CODE: fails unless the job ended at the site so, after it had run on both nodes of it, its output came back and
# the Slurm of the site, and no other, has it.
ran() {
	local state=COMPLETED user=ada other=borealis want
	[ "$3" -eq 0 ] || state=FAILED
	[ "$2" = aurora ] || user=gridguest other=aurora
	[ "$(placed "$1")" = "$1 $state $2" ] || fail "the job should have ended at $2 as $state, but: $(placed "$1")"
	want="$2 $user"$'\n'"0: $2-1"$'\n'"1: $2-2"
	[ "$(ada cat "$1.out" </dev/null)" = "$want" ] || fail "the output of $1 should be:"$'\n'"$want"$'\n'"and is:"$'\n'"$(ada cat "$1.out" </dev/null)"
	[ "$(accounted "$2" "$1")" = "$user $state $3:0" ] || fail "sacct at $2 should have $1 as $user $state $3:0, but: $(accounted "$2" "$1")"
	[ -z "$(accounted "$other" "$1")" ] || fail "sacct at $other has $1, which ran at $2"
	say "$1: $state at $2 on both nodes, and in sacct there as $user"
}

# is NAME STATE SITE: whether the job is so.
is() { [ "$(at aurora switchyard queue --no-header | awk -v name="$1" '$2 == name { print $4, $8 }')" = "$2 $3" ]; }

# ended_at NAME SITE: whether the job completed there.
ended_at() { [ "$(placed "$1")" = "$1 COMPLETED $2" ]; }

await "the partners of aurora are up" all_linked up
await "gossip has brought the load of all sites, before any round" load_known
await "Slurm has all nodes" nodes_idle
for site in "${sites[@]}"; do
	await "the page of $site lists all sites" lists_all "$site"
done
say "both peers have their Slurm, and the pages of both list both sites"

ada sh -c 'cat >job.sh' <"$here/slurm/job.sh"
code=0
for way in submit sbatch; do
	for site in "${sites[@]}"; do
		by "$way" "$way-$site" --stage-in-size=0 --sites="$site" job.sh "$code" >/dev/null
		code=$((code + 1))
	done
done
await "all jobs have ended" all_ended
ran submit-aurora aurora 0
ran submit-borealis borealis 1
ran sbatch-aurora aurora 2
ran sbatch-borealis borealis 3

# shellcheck disable=SC2016 # the jobs expand them
wait_for_go='while ! [ -e $HOME/go ]; do sleep 0.1; done; echo $SWITCHYARD_EXEC_SITE' say_where='sleep 2; echo $SWITCHYARD_EXEC_SITE'
by sbatch full --sites=aurora --ntasks=4 --time=10 --output=full.out --wrap="$wait_for_go" >/dev/null
await "a job has all CPUs of aurora" is full RUNNING aurora
for n in 1 2 3; do
	by sbatch "leaves-$n" --stage-in-size=0 --ntasks=2 --time=5 --output="leaves-$n.out" --wrap="$say_where" >/dev/null
done
docker restart --time 30 "$(container aurora)" >/dev/null
say "aurora's Slurm is full, three jobs more are submitted there, and its peer is started again"
for n in 1 2 3; do
	await "job leaves-$n has ended at borealis" ended_at "leaves-$n" borealis
done
is full RUNNING aurora || fail "the job that fills aurora has ended"
ada touch go </dev/null
await "all jobs have ended" all_ended
[ "$(placed full)" = "full COMPLETED aurora" ] || fail "the job that filled aurora: $(placed full)"
[ "$(ada cat full.out leaves-1.out leaves-2.out leaves-3.out </dev/null | tr '\n' ' ')" = "aurora borealis borealis borealis " ] || fail "not all outputs came back"
say "they ran at borealis meanwhile, and the job that runs in Slurm did not notice"
all_running
