#!/usr/bin/env bash
# Takes down a grid that up.sh started: down.sh FOLDER, as "up.sh --keep" prints it.
# Containers, networks, volumes, images and the folder go.
set -euo pipefail
# shellcheck source=grid.sh
. "$(dirname "$0")/grid.sh"

[ -f "${1-}/grid.env" ] || fail "usage: down.sh FOLDER, the one that \"up.sh --keep\" printed"
# shellcheck source=/dev/null
. "$1/grid.env"

compose down --volumes --remove-orphans --timeout 5
# By name: the image of another grid that was built from the same files is the same one.
docker images --format '{{.Repository}}:{{.Tag}}' "$COMPOSE_PROJECT_NAME" | while read -r image; do
	docker rmi --force "$image" >/dev/null
done
rm -r "$GRID"
