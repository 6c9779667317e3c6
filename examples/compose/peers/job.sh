#!/bin/sh
#SBATCH --ntasks=2 --time=0:02:00
#SBATCH --output=%x.out
# job.sh NUMBER SECONDS: notes that it ran, computes for a while, prints an answer that
# depends on its number, and exits with the number's last digit.
echo "began $1 $(id -un)" >>/var/runs/log
sleep "$2"
printf 'switchyard %d' "$1" | sha256sum
echo "ended $1 $(id -un)" >>/var/runs/log
exit $(($1 % 10))
