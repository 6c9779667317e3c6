#!/usr/bin/env bash
# Checks what became of the jobs 1 to COUNT: check.sh COUNT. Each must have begun and ended
# once in the whole grid, at the site and as the account that it should, and its exit code
# and its output must be at aurora.
set -euo pipefail
# shellcheck source=../grid.sh
. "$(dirname "$0")/../grid.sh"
sites+=(draco electra)

# records prints, for each job that aurora knows: number state exit-code site.
records() {
	at aurora switchyard queue --recent 1000 --json | awk -F '[":, ]+' '
		$2 == "name" { number = substr($3, 5) }
		$2 == "state" { state = $3 }
		$2 == "site" { site = $3 }
		$2 == "exit_code" { print number, state, $3, site }'
}

# runs prints, for each line that a job has noted: site word number account.
runs() {
	local site
	for site in "${sites[@]}"; do
		at "$site" sed "s/^/$site /" /var/runs/log
	done
}

# outputs prints, for each line of an output file: number answer.
outputs() {
	ada sh -c "awk '{ print substr(FILENAME, 5, length(FILENAME) - 8), \$1 }' job-*.out"
}

# answers prints what they should be.
answers() {
	local n
	for n in $(seq 1 "$1"); do
		echo "$n $(printf 'switchyard %d' "$n" | sha256sum | cut -d ' ' -f 1)"
	done
}

# expected prints what runs should, from the records: where a job was, it ran once, as
# ada at home and as gridguest elsewhere.
expected() {
	awk '{ account = $4 == "aurora" ? "ada" : "gridguest"; print $4, "began", $1, account; print $4, "ended", $1, account }'
}

# same WHAT WANT GOT: the lines must be the same, in whatever order.
same() {
	diff <(sort <<<"$2") <(sort <<<"$3") >"$GRID/diff" ||
		fail "$1 (< is what should be, > what is):"$'\n'"$(head -20 "$GRID/diff")"
}

count=$1
all_running
records=$(records)
same "the states or exit codes are wrong" \
	"$(seq 1 "$count" | awk '{ print $1, $1 % 10 ? "FAILED" : "COMPLETED", $1 % 10 }')" \
	"$(cut -d ' ' -f 1-3 <<<"$records")"
same "the outputs are wrong" "$(answers "$count")" "$(outputs)"
same "jobs did not run once, or elsewhere than recorded" "$(expected <<<"$records")" "$(runs)"
say "all $count jobs ran once, and their exit codes and outputs are at aurora; they ran at:"
cut -d ' ' -f 4 <<<"$records" | sort | uniq -c
