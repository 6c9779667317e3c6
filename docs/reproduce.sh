#!/bin/sh
# Runs everything that docs/reproduction.md shows, and makes its figures and tables again.
#
#   docs/reproduce.sh [DIR]        from the repository's root; DIR keeps all results (default: a new folder)
#
# BLUE names the log of Blue Horizon (SDSC-BLUE-2000-4.2-cln.swf.gz of the Parallel Workloads Archive). SWITCHYARD
# names a binary to use instead of building one. Besides Go it needs jq and awk. The tables are in DIR/tables.md, the figures in docs/figures; both are the same bytes each time.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$(mktemp -d)}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
blue=${BLUE:-$root/../shared/data/traces/SDSC-BLUE-2000-4.2-cln.swf.gz}
[ -r "$blue" ] || { echo "reproduce.sh: $blue is not there; get it from the Parallel Workloads Archive and name it in BLUE" >&2; exit 1; }

cd "$root"
if [ -n "${SWITCHYARD:-}" ]; then cp "$SWITCHYARD" "$dir/switchyard"; else go build -o "$dir/switchyard" ./cmd/switchyard; fi
cp examples/experiments/*-month*.toml "$dir"
ln -sf "$blue" "$dir/SDSC-BLUE-2000-4.2-cln.swf.gz"
cd "$dir"

# sweep NAME EXPERIMENT [FLAGS]
sweep() {
	name=$1
	shift
	echo "$name: switchyard sim sweep $*" >&2
	./switchyard sim sweep "$@" --json >"$name.json"
}

# Table 6 and Figure 4.
sweep heavy heavy
sweep light light
sweep light-load light --load 0.7,0.9,1 --set scheme=local,sender

# Whole nodes instead of CPUs, at the same size biases.
sweep heavy-node heavy --set size_unit=node --set scheme=local,sender
sweep light-node light --set size_unit=node --set scheme=local,sender

# Only M1's size bias; --set bias would set that of all models. That of -0.4 is the experiment's own.
for bias in -0.2 0 0.2 0.5; do
	./switchyard sim show heavy | sed "s/^bias = -0.4\$/bias = $bias/" >"bias$bias.toml"
	sweep "bias$bias" "bias$bias.toml" --set scheme=local,sender
done

sweep backfill heavy --set policy=easy,conservative --set scheme=local,sender --seeds 5

# Table 5 and Figures 3 and 5.
sweep six-months six-months.toml
sweep one-month one-month.toml
sweep six-months-node six-months.toml --set size_unit=node
sweep one-month-node one-month.toml --set size_unit=node
sweep one-month-trace one-month.toml --set estimates=trace
sweep policies one-month.toml --set policy=easy,firstfit,sjf,sjffit --set scheme=local,sender

# The parameters, and the other readings of the rules.
sweep delta heavy --set volunteer_below=0.5..0.9 --set check_interval=60s,300s,900s --set scheme=receiver --seeds 5
sweep phi heavy --set local_wait_threshold=1ms,60s,600s,3600s,21600s --set scheme=sender --seeds 5
sweep epsilon heavy --set turnaround_tolerance=0s,30s,300s,1800s --set scheme=sender --seeds 5
sweep literal heavy --set recheck_jobs=0,1 --set jobs_per_volunteer=0,1 --set scheme=receiver
sweep stay heavy --set stay_local=false,true --set scheme=symmetric
sweep stay-light light --set stay_local=false,true --set scheme=symmetric

# Schedules of single seeds, as traces, for what the means do not show.
for workload in heavy light; do
	for scheme in local sender receiver symmetric; do
		for seed in 1 2 3; do
			./switchyard sim run "$workload" --scheme $scheme --seed $seed --swf "$workload-$scheme-$seed.swf" >/dev/null
		done
	done
done

# figure NAME SOURCE RESULTS...: makes the page of results and keeps one figure of it.
figure() {
	name=$1 source=$2
	shift 2
	./switchyard sim report "$@" --out "page-$name" >/dev/null
	cp "page-$name/$source.svg" "$root/docs/figures/$name.svg"
}
mkdir -p "$root/docs/figures"
figure figure3 schemes six-months.json one-month.json
figure figure4 schemes heavy.json light.json
figure figure5 one-month-1-policies policies.json
figure delta heavy-1-mean_wait_s delta.json
figure phi heavy-1-mean_wait_s phi.json
figure epsilon heavy-1-mean_wait_s epsilon.json

sh "$root/docs/reproduce-tables.sh" >tables.md
echo "$dir/tables.md" >&2
