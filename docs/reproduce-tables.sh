#!/bin/sh
# Prints the tables of docs/reproduction.md, in Markdown, from the results that docs/reproduce.sh left in this folder.
set -eu

prelude='
def digits($d): . as $x | pow(10; $d) as $p | ($x * $p | round) / $p | tostring
  | if $d > 0 and (contains(".") | not) then . + "." + ("0" * $d) else . end;
def whole: round | tostring | if length > 3 then .[:-3] + "," + .[-3:] else . end | if length > 7 then .[:-7] + "," + .[-7:] else . end;
def pm($scale; $d): (.mean * $scale | if $d == 0 then whole else digits($d) end)
  + (if .ci95 then " ± " + (.ci95 * $scale | if $d == 0 then whole else digits($d) end) else "" end);
def row: "| " + join(" | ") + " |";
def head: row, (map("---") | row);
def name: {local: "local", sender: "S-I", receiver: "R-I", symmetric: "Sy-I", central: "central", ideal: "ideal"}[.];
def mean: add / length;
def of($s): .points[] | select(.scheme == $s) | .metrics;
def gain($a; $b; $k): [$a[$k].values, $b[$k].values] | transpose | map(.[0] / .[1]);
def points($a; $b; $k): [$a[$k].values, $b[$k].values] | transpose | map(100 * (.[1] - .[0]));
def spread($d): "\(min | digits($d)) to \(max | digits($d))";
def times($d): "÷" + digits($d);
def signed: if . > 0 then "+" + digits(1) else digits(1) end;
# interval: the mean and half the 95 % interval (Student, for 3, 5 or 10 seeds).
def interval($d): length as $n | mean as $m | ({"3": 4.303, "5": 2.776, "10": 2.262}[$n | tostring]) as $t
  | (map((. - $m) * (. - $m)) | add / ($n - 1) / $n | sqrt * $t) as $half | "\($m | digits($d)) ± \($half | digits($d))";
def offered: [.grid_efficiency.values, .makespan_s.values] | transpose | map(.[0] * .[1] / 86400) | mean;
'
run() { jq -r "$prelude $1" "$2"; }

# schemes FILE: all schemes beside each other.
schemes() {
	run '. as $all | [of("local")][0] as $l
	| (["", "wait, s", "", "response, s", "", "deviation, s", "", "efficiency, %", "moved, %", "messages/job"] | head),
	  (.points[] | .metrics as $m | [(.scheme | name),
	    ($m.mean_wait_s | pm(1; 0)), ($l.mean_wait_s.mean / $m.mean_wait_s.mean | times(2)),
	    ($m.mean_response_s | pm(1; 0)), ($l.mean_response_s.mean / $m.mean_response_s.mean | times(2)),
	    ($m.wait_deviation_s | pm(1; 0)), (100 * ($m.wait_deviation_s.mean / $l.wait_deviation_s.mean - 1) | signed)
	      + " / " + (100 * ($m.wait_deviation_paper_s.mean / $l.wait_deviation_paper_s.mean - 1) | signed) + " %",
	    ($m.grid_efficiency | pm(100; 1)), ($m.fraction_transferred | pm(100; 1)), ($m.messages_per_job | pm(1; 1))] | row),
	  "",
	  (.points[] | select(.scheme != "local") | .metrics as $m | "\(.scheme | name), by seed: wait ÷\(gain($l; $m; "mean_wait_s") | spread(1) + ", mean " + interval(1))"
	    + ", response ÷\(gain($l; $m; "mean_response_s") | spread(1) + ", mean " + interval(1))"
	    + ", \(points($l; $m; "grid_efficiency") | spread(1) + ", mean " + interval(1)) points")' "$1"
}

# sites FILE: every site under every scheme.
sites() {
	run '(["", "", "jobs", "allocated, %", "used, %", "wait, s", "response, s", "sent"] | head),
	  (.points[] | (.scheme | name) as $s | .sites[] | .site as $n | .metrics
	  | [$s, $n, (.jobs_submitted | pm(1; 0)), (.utilization_allocated | pm(100; 1)), (.utilization | pm(100; 1)), (.mean_wait_s | pm(1; 0)), (.mean_response_s | pm(1; 0)),
	     (.jobs_sent | pm(1; 0))] | row)' "$1"
}

# settings FILE: one line for each point of a sweep.
settings() {
	run '.axes as $axes | ([$axes[].key] + ["scheme", "wait, s", "response, s", "deviation, s", "efficiency, %", "moved, %", "messages/job"] | head),
	  (.points[] | .settings as $set | .scheme as $s | .metrics | [($axes[] | $set[.key]), ($s | name), (.mean_wait_s | pm(1; 0)),
	  (.mean_response_s | pm(1; 0)), (.wait_deviation_s | pm(1; 0)), (.grid_efficiency | pm(100; 1)),
	  (.fraction_transferred | pm(100; 1)), (.messages_per_job | pm(1; 1))] | row)' "$1"
}

for result in heavy light heavy-node light-node six-months one-month six-months-node one-month-node one-month-trace; do
	printf '\n## %s\n\n' "$result"
	schemes $result.json
	printf '\n'
	sites $result.json
done

printf '\n## Whole nodes, and other sizes on M1\n\n'
jq -nr "$prelude"' ["", "M1 allocated, %", "M1 wait, s", "wait, s", "work, days", "efficiency, %", "S-I wait, s", "gain in wait", "in response", "efficiency, %", "points", "by seed"] | head'
for result in heavy heavy-node bias-0.2 bias0 bias0.2 bias0.5; do
	run '[of("local")][0] as $l | [of("sender")][0] as $s | .points[0].sites[0].metrics as $m1
	  | ["'"$result"'", ($m1.utilization_allocated | pm(100; 1)), ($m1.mean_wait_s | pm(1; 0)), ($l.mean_wait_s | pm(1; 0)), ($l | offered | digits(1)),
	  ($l.grid_efficiency | pm(100; 1)), ($s.mean_wait_s | pm(1; 0)), (gain($l; $s; "mean_wait_s") | interval(1)),
	  (gain($l; $s; "mean_response_s") | interval(1)), ($s.grid_efficiency | pm(100; 1)),
	  (points($l; $s; "grid_efficiency") | interval(1), spread(1))] | row' "$result.json"
done

printf '\n## Light at other loads\n\n'
run '(["load", "local wait, s", "S-I wait, s", "gain", "local response, s", "gain", "efficiency, %"] | head),
  (.axes[0].values[] as $load | [.points[] | select(.settings.load == $load) | .metrics] as [$l, $s]
  | [$load, ($l.mean_wait_s | pm(1; 0)), ($s.mean_wait_s | pm(1; 0)), ($l.mean_wait_s.mean / $s.mean_wait_s.mean | times(1)),
  ($l.mean_response_s | pm(1; 0)), ($l.mean_response_s.mean / $s.mean_response_s.mean | times(2)), ($l.grid_efficiency | pm(100; 1))] | row)' light-load.json

for result in backfill policies delta phi epsilon literal stay stay-light; do
	printf '\n## %s\n\n' "$result"
	settings $result.json
done

# Waits by size: the last 1 % of a scheme, and jobs that fit no machine but M1 (over 1220 CPUs).
printf '\n## Waits by size, heavy, seeds 1 to 3\n\n| | median, s | 90 %%, s | longest, s | jobs over 1,220 CPUs | their wait, s | their share of all waiting, %% | wait of the rest, s |\n|---|---|---|---|---|---|---|---|\n'
for scheme in local sender receiver symmetric; do
	cat heavy-$scheme-[123].swf | awk '!/^;/ { printf "%d %d\n", $3, $8 }' | sort -n | awk -v scheme=$scheme '
		{ wait[NR] = $1; sum += $1; if ($2 > 1220) { wide++; theirs += $1 } }
		END { printf "| %s | %d | %d | %d | %d | %d | %.0f | %d |\n", scheme, wait[int(NR / 2)], wait[int(NR * .9)], wait[NR], wide / 3,
			theirs / wide, 100 * theirs / sum, (sum - theirs) / (NR - wide) }'
done

# Where a site would volunteer: the part of the time until the last submission in which it is busy below delta = 0.7.
printf '\n## Time below 0.7, %%\n\n| | seed | any | m1 | m2 | m3 | m4 | m5 | m6 | moved |\n|---|---|---|---|---|---|---|---|---|---|\n'
for workload in heavy light; do
	for scheme in sender symmetric; do
		for seed in 1 2 3; do
			moved=$(awk '!/^;/ && $16 != $19 { n++ } END { print n }' $workload-$scheme-$seed.swf)
			awk 'BEGIN { split("16 4 8 16 4 4", per) }
				/^;/ { next }
				{
					held = int(($5 + per[$16] - 1) / per[$16]) * per[$16]
					printf "%.3f %d %d\n%.3f %d %d\n", $2 + $3, held, $16, $2 + $3 + $4, -held, $16
					if ($2 > last) last = $2
				}
				END { printf "%.3f 0 0\n", last }' $workload-$scheme-$seed.swf | sort -n |
				awk -v title="$workload $scheme | $seed" -v moved="$moved" 'BEGIN { sites = split("3072 1220 1152 128 296 720", cpus) }
				{
					any = 0
					for (i = 1; i <= sites; i++)
						if (busy[i] < 0.7 * cpus[i]) { any = 1; below[i] += $1 - now }
					if (any) free += $1 - now
					now = $1
					if ($2 == 0) {
						printf "| %s | %.0f", title, 100 * free / now
						for (i = 1; i <= sites; i++) printf " | %.0f", 100 * below[i] / now
						printf " | %d |\n", moved
						exit
					}
					busy[$3] += $2
				}'
		done
	done
done
