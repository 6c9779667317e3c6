#!/bin/bash
# Cancels its user's jobs of one name.
#SBATCH -J cancelme -t 10
scancel -u $(id -un) -n cancelme
sleep 10 && echo "not cancelled"
