#!/bin/sh
#SBATCH --ntasks=2 --time=0:02:00
#SBATCH --output=%x.out
# job.sh NUMBER SECONDS|until:NAME: notes that it ran, computes for a while, or until the file
# /var/runs/NAME is at its site, prints an answer that
# depends on its number, and exits with the number's last digit.
echo "began $1 $(id -un)" >>/var/runs/log
case $2 in
until:*) while ! [ -e "/var/runs/${2#until:}" ]; do sleep 0.1; done ;;
*) sleep "$2" ;;
esac
printf 'switchyard %d' "$1" | sha256sum
echo "ended $1 $(id -un)" >>/var/runs/log
exit $(($1 % 10))
