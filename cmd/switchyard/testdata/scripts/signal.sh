#!/bin/bash
# Saves its state when a signal announces the end of its time.
#SBATCH -t 2 --signal=B:USR1@115
trap 'echo saved >checkpoint.txt; kill $!; exit 7' USR1
sleep 110 &
wait
