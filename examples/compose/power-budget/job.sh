#!/bin/sh
#SBATCH --ntasks=2048 --time=0:10:00
#SBATCH --output=%x.out
# Half a rack, until the file /var/runs/go is at its site.
echo "$SWITCHYARD_EXEC_SITE $SWITCHYARD_PARTITION"
while ! [ -e /var/runs/go ]; do sleep 0.2; done
