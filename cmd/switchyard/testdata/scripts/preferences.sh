#!/bin/bash
# Preferences for the queue.
#SBATCH --nice=10 --time-min=1
echo ran
